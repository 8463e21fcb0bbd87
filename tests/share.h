/* share.h: a build tries one model where others try SHARE. CMake's PARITAS_TESTS_SHARE says how many. */
#ifndef PARITAS_TESTS_SHARE_H
#define PARITAS_TESTS_SHARE_H

#ifndef PARITAS_TESTS_SHARE
#define PARITAS_TESTS_SHARE 1
#endif

enum { SHARE = PARITAS_TESTS_SHARE };

#endif
