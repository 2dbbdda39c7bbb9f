/* skeleton.tbl.h - letters of other scripts that look like an ASCII letter or digit, in lower case
 * (after the confusables of UTS 39, those a reader does not tell apart in a name). X(point,
 * 'ascii') Fullwidth forms and mathematical letters are computed. */
#define WRIT_SKELETON(X)                                                                           \
    /* Cyrillic */                                                                                 \
    X(0x0410, 'a')                                                                                 \
    X(0x0412, 'b') X(0x0415, 'e') X(0x041a, 'k') X(0x041c, 'm') X(0x041d, 'h') X(0x041e, 'o')      \
        X(0x0420, 'p') X(0x0421, 'c') X(0x0422, 't') X(0x0423, 'y') X(0x0425, 'x') X(0x0430, 'a')  \
            X(0x0432, 'b') X(0x0433, 'r') X(0x0435, 'e') X(0x043a, 'k') X(0x043c, 'm')             \
                X(0x043d, 'h') X(0x043e, 'o') X(0x0440, 'p') X(0x0441, 'c') X(0x0442, 't')         \
                    X(0x0443, 'y') X(0x0445, 'x') X(0x0455, 's') X(0x0456, 'i') X(0x0458, 'j')     \
                        X(0x0405, 's') X(0x0406, 'i') X(0x0408, 'j') X(0x04ae, 'y') X(0x04af, 'y') \
                            X(0x04bb, 'h') X(0x04c0, 'i') X(0x04cf, 'i') X(0x0501, 'd')            \
                                X(0x051b, 'q') X(0x051d, 'w') X(0x0475, 'v') X(0x0461, 'w')        \
                                    X(0x0454, 'e') /* Greek */                                     \
        X(0x0391, 'a') X(0x0392, 'b') X(0x0395, 'e') X(0x0396, 'z') X(0x0397, 'h') X(0x0399, 'i')  \
            X(0x039a, 'k') X(0x039c, 'm') X(0x039d, 'n') X(0x039f, 'o') X(0x03a1, 'p')             \
                X(0x03a4, 't') X(0x03a5, 'y') X(0x03a7, 'x') X(0x03b1, 'a') X(0x03b3, 'y')         \
                    X(0x03b5, 'e') X(0x03b7, 'n') X(0x03b9, 'i') X(0x03ba, 'k') X(0x03bd, 'v')     \
                        X(0x03bf, 'o') X(0x03c1, 'p') X(0x03c4, 't') X(0x03c5, 'u') X(0x03c7, 'x') \
                            X(0x03c9, 'w') X(0x03f2, 'c') X(                                       \
                                0x03f3, 'j') /* Armenian, Latin of other languages, letterlike */  \
        X(0x0578, 'n') X(0x057d, 'u') X(0x0585, 'o') X(0x0570, 'h') X(0x0131, 'i') X(0x0251, 'a')  \
            X(0x0261, 'g') X(0x026a, 'i') X(0x028f, 'y') X(0x1d0f, 'o') X(0x1d04, 'c')             \
                X(0x1d20, 'v') X(0x1d21, 'w') X(0x1d22, 'z') X(0x2113, 'l') X(0x212a, 'k')         \
                    X(0x212f, 'e') X(0x2134, 'o') /* dashes and low lines */                       \
        X(0x2010, '_') X(0x2011, '_') X(0x2012, '_') X(0x2013, '_') X(0x2014, '_') X(0x2212, '_')  \
            X(0x203f, '_') X(0xfe4d, '_') X(0xff3f, '_') X(0x00ad, '_')
