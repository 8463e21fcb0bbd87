/* store_folder.h: a folder for the stores of a case; its end fails where a store left something beside it. */
#ifndef PARITAS_STORE_FOLDER_H
#define PARITAS_STORE_FOLDER_H

#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static inline int open_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/paritas_stores_XXXXXX");
    return mkdtemp(folder) == NULL;
}

/* One of the last eight. */
static inline const char *path_of(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline int close_folder(void **state)
{
    static const char *const names[] = {"1.db", "2.db", "3.db", "all.db"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) unlink(path_of(names[i]));
    return rmdir(folder);
}

#endif
