/* oddity.tbl.h - what can be odd about a server's tools. X(NAME, name, sentence) */
#define WRIT_ODDITIES(X)                                                                           \
    X(CHANGED, changed, "the definition is not the one that was accepted or seen before")          \
    X(NEW, new, "the tool was not there when the definitions were seen before")                    \
    X(DOUBLED, doubled, "the server lists the name twice, with different definitions")             \
    X(HIDDEN, hidden, "characters that a reader does not see and a model does")                    \
    X(LOOKALIKE, lookalike, "letters of another script that look like ASCII, in a name")           \
    X(IMITATES, imitates, "the name is that of another server's tool, or is taken for it")         \
    X(ADDRESSES, addresses, "a text that tells the model what to do")

/* What a text for a model says when it does more than describe its tool. The words of a text are
 * compared without case, punctuation and hidden characters; `*` stands for up to five words.
 *
 * X(NAME, name, "words") - a name may have several rows */
#define WRIT_ADDRESSES(X)                                                                          \
    /* earlier instructions do not count */                                                        \
    X(ignore_previous, "ignore * previous")                                                        \
    X(ignore_previous, "ignore * instructions")                                                    \
    X(ignore_previous, "disregard * previous")                                                     \
    X(ignore_previous, "disregard * instructions")                                                 \
    X(ignore_previous, "forget * previous")                                                        \
    X(ignore_previous, "forget * instructions")                                                    \
    X(ignore_previous, "override * instructions")                                                  \
    /* the person is not to know */                                                                \
    X(conceal, "do not tell")                                                                      \
    X(conceal, "don t tell")                                                                       \
    X(conceal, "never tell")                                                                       \
    X(conceal, "do not mention")                                                                   \
    X(conceal, "don t mention")                                                                    \
    X(conceal, "never mention")                                                                    \
    X(conceal, "do not inform")                                                                    \
    X(conceal, "do not reveal")                                                                    \
    X(conceal, "do not show * user")                                                               \
    X(conceal, "do not ask * user")                                                                \
    X(conceal, "without telling")                                                                  \
    X(conceal, "without informing")                                                                \
    X(conceal, "without asking * user")                                                            \
    X(conceal, "hide this from")                                                                   \
    X(conceal, "hide * from the user")                                                             \
    X(conceal, "keep * from the user")                                                             \
    X(conceal, "user must not know")                                                               \
    X(conceal, "user should not know")                                                             \
    /* a condition of every call */                                                                \
    X(before_use, "before using this tool")                                                        \
    X(before_use, "before * using any")                                                            \
    X(before_use, "before * calling any")                                                          \
    X(before_use, "before you use this tool")                                                      \
    X(before_use, "before calling this tool")                                                      \
    X(before_use, "before invoking this tool")                                                     \
    X(before_use, "prior to using this tool")                                                      \
    X(before_use, "this tool will not work unless")                                                \
    X(before_use, "this tool does not work unless")                                                \
    /* orders */                                                                                   \
    X(must, "you must")                                                                            \
    X(must, "you are required to")                                                                 \
    X(must, "you have to")                                                                         \
    X(must, "it is mandatory")                                                                     \
    X(must, "it is critical that you")                                                             \
    X(must, "it is important that you")                                                            \
    X(must, "it is very important")                                                                \
    X(must, "important you")                                                                       \
    X(must, "always call this tool")                                                               \
    X(must, "always use this tool")                                                                \
    /* who the model is */                                                                         \
    X(role, "you are now")                                                                         \
    X(role, "you are an ai")                                                                       \
    X(role, "system prompt")                                                                       \
    X(role, "system message")                                                                      \
    X(role, "new instructions")                                                                    \
    X(role, "as an ai")                                                                            \
    /* tools of others */                                                                          \
    X(other_tools, "do not use * other tool")                                                      \
    X(other_tools, "do not use any other")                                                         \
    X(other_tools, "instead of * other tool")                                                      \
    X(other_tools, "when * tool * is called")                                                      \
    X(other_tools, "when * tool is used")                                                          \
    X(other_tools, "whenever * tool * is called")                                                  \
    X(other_tools, "this overrides")                                                               \
    X(other_tools, "this tool replaces")                                                           \
    X(other_tools, "this tool supersedes")                                                         \
    X(other_tools, "all emails * must be sent")                                                    \
    /* secrets, and where they lie */                                                              \
    X(secrets, "id rsa")                                                                           \
    X(secrets, "ssh config")                                                                       \
    X(secrets, "authorized keys")                                                                  \
    X(secrets, "etc passwd")                                                                       \
    X(secrets, "etc shadow")                                                                       \
    X(secrets, "mcp json")                                                                         \
    X(secrets, "claude desktop config")                                                            \
    X(secrets, "aws credentials")                                                                  \
    X(secrets, "read the file")                                                                    \
    X(secrets, "conversation history")                                                             \
    X(secrets, "entire conversation")                                                              \
    X(secrets, "full conversation")                                                                \
    /* something is carried out */                                                                 \
    X(carry, "pass * contents")                                                                    \
    X(carry, "pass * content as")                                                                  \
    X(carry, "include * contents of")                                                              \
    X(carry, "send * to http")                                                                     \
    X(carry, "send * to https")                                                                    \
    X(carry, "forward * to http")                                                                  \
    X(carry, "forward * to https")                                                                 \
    X(carry, "sidenote")

/* Marks that are instructions by their form. They are looked for as they stand, without case.
 *
 * X(name, "text") */
#define WRIT_ADDRESS_MARKS(X)                                                                      \
    X(mark, "<important")                                                                          \
    X(mark, "<critical")                                                                           \
    X(mark, "<system")                                                                             \
    X(mark, "</system")                                                                            \
    X(mark, "<instruction")                                                                        \
    X(mark, "<secret")                                                                             \
    X(mark, "<hidden")                                                                             \
    X(mark, "<assistant")                                                                          \
    X(mark, "<user>")                                                                              \
    X(mark, "<|")                                                                                  \
    X(mark, "[inst]")                                                                              \
    X(mark, "[system]")                                                                            \
    X(mark, "<<sys>>")                                                                             \
    X(mark, "<!--")
