/* doom.h: how a driver that stands in for a real one ends the program. FAKE_DRIVER="7:abort" does it at the
 * driver's 7th call; the words are below. */
#ifndef PARITAS_TESTS_DEVICE_DOOM_H
#define PARITAS_TESTS_DEVICE_DOOM_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void doom(unsigned long call)
{
    const char *told = getenv("FAKE_DRIVER"), *how = told ? strchr(told, ':') : NULL;
    if (!how || strtoul(told, NULL, 10) != call) return;
    if (strcmp(how, ":abort") == 0) abort();
    if (strcmp(how, ":crash") == 0) raise(SIGSEGV);
    if (strcmp(how, ":exit") == 0) _exit(0);
    if (strcmp(how, ":garbage") == 0) { /* into every open file, the answer's pipe among them */
        char noise[4096];
        memset(noise, 0xa5, sizeof noise);
        for (int fd = 3; fd < 64; fd++) (void)!write(fd, noise, sizeof noise);
    }
    while (strcmp(how, ":hang") == 0) sleep(1000);
}

#endif
