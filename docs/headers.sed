# SPDX-License-Identifier: MIT
# sed -E: makes Doxygen's comments of the plain ones of the headers, for docs/Doxyfile.

# The first comment is the file's.
2s:^/\* ?:/** @file\n:

# Lines of dashes are none.
/^ *\/\* ----/b

# Comments before a declaration, and behind one.
3,$s:^( *)/\* ?:\1/** :
s:^( *[^ /].*[;,{}]) +/\* :\1 /**< :
s:^( *[^ /].*[0-9A-Za-z]) +/\* :\1 /**< :

# Indented lines of a comment stay as they are. The hold space has a 1 within them.
/^ \* {5}/{
    x
    /^$/{
        s/$/1/
        x
        s/^ \* {5}(.*)/ * @verbatim\n\1/
        b
    }
    x
    s/^ \* {5}//
    b
}
x
/1/{
    s/1//
    x
    s/^/@endverbatim\n/
    b
}
x
