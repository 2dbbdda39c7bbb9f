/* oddity.tbl.h - what can be odd about a server's tools. X(NAME, name, sentence) */
#define WRIT_ODDITIES(X)                                                                           \
    X(CHANGED, changed, "the definition is not the one that was accepted or seen before")          \
    X(NEW, new, "the tool was not there when the definitions were seen before")                    \
    X(DOUBLED, doubled, "the server lists the name twice, with different definitions")             \
    X(HIDDEN, hidden, "characters that a reader does not see and a model does")                    \
    X(LOOKALIKE, lookalike, "letters of another script that look like ASCII, in a name")           \
    X(REPEATS, repeats, "the name is that of another server's tool, with another definition")      \
    X(IMITATES, imitates, "the name is taken for that of another server's tool")                   \
    X(ADDRESSES, addresses, "a text that tells the model what to do")
