# code.awk - prints C files without their comments and with empty strings, as lines of the file, a tab, the number of
# the line, a tab and the code. Other checks read that, so that a word in a comment or a message does not count as code.
FNR == 1 {
    in_comment = 0
}

{
    code = ""
    rest = $0
    while (rest != "") {
        if (in_comment) {
            at = index(rest, "*/")
            if (at == 0) {
                break
            }
            in_comment = 0
            rest = substr(rest, at + 2)
        } else if (match(rest, /^[^"'\/]+/)) {
            code = code substr(rest, 1, RLENGTH)
            rest = substr(rest, RLENGTH + 1)
        } else if (substr(rest, 1, 2) == "/*") {
            in_comment = 1
            rest = substr(rest, 3)
        } else if (substr(rest, 1, 2) == "//") {
            break
        } else if (match(rest, /^"([^"\\]|\\.)*"/)) {
            code = code "\"\""
            rest = substr(rest, RLENGTH + 1)
        } else if (match(rest, /^'([^'\\]|\\.)+'/)) {
            code = code "' '"
            rest = substr(rest, RLENGTH + 1)
        } else {
            code = code substr(rest, 1, 1)
            rest = substr(rest, 2)
        }
    }
    print FILENAME "\t" FNR "\t" code
}
