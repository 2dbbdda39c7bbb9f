/* prompt.tbl.h - the texts of the detectors prompt.*. After a change of the rows of a detector,
 * raise its version in detector.tbl.h. */
#ifndef WRIT_POLICY_PROMPT_TBL_H
#define WRIT_POLICY_PROMPT_TBL_H

/* What a text for a model says when it does more than describe its tool. The words of a text are
 * compared without case, punctuation and hidden characters; `*` stands for up to five words.
 *
 * X(ID, "words"): ID is a detector of detector.tbl.h, which may have several rows */
#define WRIT_PROMPT_WORDS(X)                                                                       \
    /* earlier instructions do not count */                                                        \
    X(PROMPT_IGNORE_PREVIOUS, "ignore * previous")                                                 \
    X(PROMPT_IGNORE_PREVIOUS, "ignore * instructions")                                             \
    X(PROMPT_IGNORE_PREVIOUS, "disregard * previous")                                              \
    X(PROMPT_IGNORE_PREVIOUS, "disregard * instructions")                                          \
    X(PROMPT_IGNORE_PREVIOUS, "forget * previous")                                                 \
    X(PROMPT_IGNORE_PREVIOUS, "forget * instructions")                                             \
    X(PROMPT_IGNORE_PREVIOUS, "override * instructions")                                           \
    /* the person is not to know */                                                                \
    X(PROMPT_CONCEAL, "do not tell")                                                               \
    X(PROMPT_CONCEAL, "don t tell")                                                                \
    X(PROMPT_CONCEAL, "never tell")                                                                \
    X(PROMPT_CONCEAL, "do not mention")                                                            \
    X(PROMPT_CONCEAL, "don t mention")                                                             \
    X(PROMPT_CONCEAL, "never mention")                                                             \
    X(PROMPT_CONCEAL, "do not inform")                                                             \
    X(PROMPT_CONCEAL, "do not reveal")                                                             \
    X(PROMPT_CONCEAL, "do not show * user")                                                        \
    X(PROMPT_CONCEAL, "do not ask * user")                                                         \
    X(PROMPT_CONCEAL, "without telling")                                                           \
    X(PROMPT_CONCEAL, "without informing")                                                         \
    X(PROMPT_CONCEAL, "without asking * user")                                                     \
    X(PROMPT_CONCEAL, "hide this from")                                                            \
    X(PROMPT_CONCEAL, "hide * from the user")                                                      \
    X(PROMPT_CONCEAL, "keep * from the user")                                                      \
    X(PROMPT_CONCEAL, "user must not know")                                                        \
    X(PROMPT_CONCEAL, "user should not know")                                                      \
    /* a condition of every call */                                                                \
    X(PROMPT_BEFORE_USE, "before using this tool")                                                 \
    X(PROMPT_BEFORE_USE, "before * using any")                                                     \
    X(PROMPT_BEFORE_USE, "before * calling any")                                                   \
    X(PROMPT_BEFORE_USE, "before you use this tool")                                               \
    X(PROMPT_BEFORE_USE, "before calling this tool")                                               \
    X(PROMPT_BEFORE_USE, "before invoking this tool")                                              \
    X(PROMPT_BEFORE_USE, "prior to using this tool")                                               \
    X(PROMPT_BEFORE_USE, "this tool will not work unless")                                         \
    X(PROMPT_BEFORE_USE, "this tool does not work unless")                                         \
    /* orders */                                                                                   \
    X(PROMPT_MUST, "you must")                                                                     \
    X(PROMPT_MUST, "you are required to")                                                          \
    X(PROMPT_MUST, "you have to")                                                                  \
    X(PROMPT_MUST, "it is mandatory")                                                              \
    X(PROMPT_MUST, "it is critical that you")                                                      \
    X(PROMPT_MUST, "it is important that you")                                                     \
    X(PROMPT_MUST, "it is very important")                                                         \
    X(PROMPT_MUST, "important you")                                                                \
    X(PROMPT_MUST, "always call this tool")                                                        \
    X(PROMPT_MUST, "always use this tool")                                                         \
    /* who the model is */                                                                         \
    X(PROMPT_ROLE, "you are now")                                                                  \
    X(PROMPT_ROLE, "you are an ai")                                                                \
    X(PROMPT_ROLE, "system prompt")                                                                \
    X(PROMPT_ROLE, "system message")                                                               \
    X(PROMPT_ROLE, "new instructions")                                                             \
    X(PROMPT_ROLE, "as an ai")                                                                     \
    /* tools of others */                                                                          \
    X(PROMPT_OTHER_TOOLS, "do not use * other tool")                                               \
    X(PROMPT_OTHER_TOOLS, "do not use any other")                                                  \
    X(PROMPT_OTHER_TOOLS, "instead of * other tool")                                               \
    X(PROMPT_OTHER_TOOLS, "when * tool * is called")                                               \
    X(PROMPT_OTHER_TOOLS, "when * tool is used")                                                   \
    X(PROMPT_OTHER_TOOLS, "whenever * tool * is called")                                           \
    X(PROMPT_OTHER_TOOLS, "this overrides")                                                        \
    X(PROMPT_OTHER_TOOLS, "this tool replaces")                                                    \
    X(PROMPT_OTHER_TOOLS, "this tool supersedes")                                                  \
    X(PROMPT_OTHER_TOOLS, "all emails * must be sent")                                             \
    /* secrets, and where they lie */                                                              \
    X(PROMPT_SECRETS, "id rsa")                                                                    \
    X(PROMPT_SECRETS, "ssh config")                                                                \
    X(PROMPT_SECRETS, "authorized keys")                                                           \
    X(PROMPT_SECRETS, "etc passwd")                                                                \
    X(PROMPT_SECRETS, "etc shadow")                                                                \
    X(PROMPT_SECRETS, "mcp json")                                                                  \
    X(PROMPT_SECRETS, "claude desktop config")                                                     \
    X(PROMPT_SECRETS, "aws credentials")                                                           \
    X(PROMPT_SECRETS, "read the file")                                                             \
    X(PROMPT_SECRETS, "conversation history")                                                      \
    X(PROMPT_SECRETS, "entire conversation")                                                       \
    X(PROMPT_SECRETS, "full conversation")                                                         \
    /* something is carried out */                                                                 \
    X(PROMPT_CARRY, "pass * contents")                                                             \
    X(PROMPT_CARRY, "pass * content as")                                                           \
    X(PROMPT_CARRY, "include * contents of")                                                       \
    X(PROMPT_CARRY, "send * to http")                                                              \
    X(PROMPT_CARRY, "send * to https")                                                             \
    X(PROMPT_CARRY, "forward * to http")                                                           \
    X(PROMPT_CARRY, "forward * to https")                                                          \
    X(PROMPT_CARRY, "sidenote")

/* Marks that are instructions by their form. They are looked for as they stand, without case.
 *
 * X(ID, "text") */
#define WRIT_PROMPT_MARKS(X)                                                                       \
    X(PROMPT_MARK, "<important")                                                                   \
    X(PROMPT_MARK, "<critical")                                                                    \
    X(PROMPT_MARK, "<system")                                                                      \
    X(PROMPT_MARK, "</system")                                                                     \
    X(PROMPT_MARK, "<instruction")                                                                 \
    X(PROMPT_MARK, "<secret")                                                                      \
    X(PROMPT_MARK, "<hidden")                                                                      \
    X(PROMPT_MARK, "<assistant")                                                                   \
    X(PROMPT_MARK, "<user>")                                                                       \
    X(PROMPT_MARK, "<|")                                                                           \
    X(PROMPT_MARK, "[inst]")                                                                       \
    X(PROMPT_MARK, "[system]")                                                                     \
    X(PROMPT_MARK, "<<sys>>")                                                                      \
    X(PROMPT_MARK, "<!--")

#endif
