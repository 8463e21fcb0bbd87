/* share.h: sanitizers cost a factor of ten: they try one model where others try SHARE. */
#ifndef PARITAS_TESTS_SHARE_H
#define PARITAS_TESTS_SHARE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SHARE = 6 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SHARE = 6 };
#else
enum { SHARE = 1 };
#endif
#else
enum { SHARE = 1 };
#endif

#endif
