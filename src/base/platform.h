/* platform.h: what operating systems do in different ways: files, folders, locks, libraries, threads.
 *
 * platform_posix.c and platform_windows.c implement it; no other file asks for which system it is compiled.
 * Paths and arguments are UTF-8. A function that fails returns false, NULL or -1 and sets errno. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PLATFORM_PATH_MAX 4096 /* bytes of a path with its end */

/* What is called differently: one of three texts, or NULL. */
#if defined(_WIN32)
#define PLATFORM_NAME(posix, apple, windows) windows
#elif defined(__APPLE__)
#define PLATFORM_NAME(posix, apple, windows) apple
#else
#define PLATFORM_NAME(posix, apple, windows) posix
#endif

/* ---- files ---- */

enum platform_kind { PLATFORM_FILE, PLATFORM_FOLDER, PLATFORM_OTHER }; /* other: a pipe, a device, a link */

struct platform_info {
    enum platform_kind kind;
    uint64_t size;           /* bytes */
    uint64_t volume, number; /* the same pair: the same file */
};

bool platform_info(const char *path, struct platform_info *info); /* of what a link leads to */
bool platform_info_open(int file, struct platform_info *info);    /* of a descriptor */
bool platform_exists(const char *path);                           /* also a link that leads nowhere */
bool platform_readable(const char *path);
bool platform_writable(const char *path); /* a folder: files can be made in it */

/* Opens a binary stream that is closed in child processes. mode: "rb" or "wb". */
FILE *platform_open_stream(const char *path, const char *mode);
/* The same as a descriptor: for reading, or for writing into what is there. */
int platform_open_read(const char *path);
int platform_open_write(const char *path);
/* A new file for reading and writing, to be closed by platform_close_temporary. The last six characters of
 * `path`, XXXXXX, become others. Linux: it has no name before that, so a killed process leaves nothing. */
int platform_open_temporary(char *path);
/* Closes it. keep: it has the name `path` now; `sync`: it waits for the disk before. Else, and on failure, it
 * is gone. */
bool platform_close_temporary(int file, char *path, bool keep, bool sync);
/* Bytes read, 0 at the end, -1. Goes on after a signal. */
ptrdiff_t platform_read(int file, void *bytes, size_t room);
bool platform_seek(int file, uint64_t at);                       /* to this byte; false: a pipe */
bool platform_write(int file, const void *bytes, size_t length); /* all of them */
bool platform_close(int file);
/* Gives an open file the permissions of `like`; if there is none, those of a new file. */
bool platform_set_permissions(int file, const char *like);

bool platform_rename(const char *from, const char *to); /* replaces `to` in one step */
bool platform_remove(const char *path);
/* The file that `path` leads to through links, also if it does not exist. Freed by the caller.
 * Windows: `path` itself. */
char *platform_behind_links(const char *path);
/* The absolute path without links of a file or folder that exists. */
bool platform_real_path(const char *path, char real[PLATFORM_PATH_MAX]);

/* The part of a path behind its last separator. */
const char *platform_file_name(const char *path);
/* The folder of a path, "." if it names none. Freed by the caller; NULL: out of memory. */
char *platform_folder_of(const char *path);
bool platform_is_separator(char byte);
bool platform_is_absolute(const char *path);

/* ---- folders ---- */

struct platform_folder;

bool platform_make_folder(const char *path); /* true: it is there */
struct platform_folder *platform_folder_open(const char *path);
/* The next name, valid until the next call; NULL: the end, or errno. "." and ".." may come. */
const char *platform_folder_next(struct platform_folder *folder);
bool platform_folder_info(struct platform_folder *folder, const char *name, struct platform_info *info);
void platform_folder_close(struct platform_folder *folder);

/* The next `bytes` of the heap come in large pages, as far as they fill them and the system gives them: a
 * fresh page of 4 KiB costs 1 us, one of 2 MiB 100 us. */
void platform_enlarge_pages(size_t bytes);

const char *platform_home(void); /* the user's; NULL: unknown */
#define PLATFORM_CACHES PLATFORM_NAME("/.cache", "/Library/Caches", "/AppData/Local") /* below home */

/* ---- locks between processes: a file that exists while the lock is held; a crash drops it ---- */

enum platform_lock {
    PLATFORM_LOCK_TAKEN,
    PLATFORM_LOCK_IN_USE,
    PLATFORM_LOCK_NOT_MADE,
    PLATFORM_LOCK_FAILED
};

enum platform_lock platform_lock_take(const char *path, int *file);
void platform_lock_drop(const char *path, int file);
bool platform_lock_is_held(const char *path); /* by anybody */

/* ---- libraries ---- */

void *platform_library_open(const char *name); /* NULL: not installed. Stays in memory */
void platform_library_close(void *library);
bool platform_library_is_open(const char *name);
void *platform_library_find(void *library, const char *name); /* NULL: no such function */

/* ---- the process ---- */

/* Whether a child process can try a driver first. Apple's frameworks do not work in a child without exec.
 * Windows and WASI have no children of that kind. */
#if defined(__APPLE__) || defined(_WIN32) || defined(__wasi__)
#define PLATFORM_FORKS 0
#else
#define PLATFORM_FORKS 1
#endif

/* Sets a variable of the environment, unless it is set. For the start of a program. */
void platform_set_missing(const char *name, const char *value);

void platform_system(size_t room, char *text); /* name and release: "Linux 6.1.0" */
/* The processor's name, on machines whose processors do not say it themselves; "unknown". */
void platform_processor(size_t room, char *text);
double platform_seconds(void); /* of a clock that only runs forward */
unsigned platform_processors(void);

/* For the start of a program: arguments in UTF-8, standard streams in binary, a console that takes UTF-8 and
 * escape sequences. */
void platform_start_program(int *argc, char ***argv);
bool platform_shows_progress(void); /* standard error is a terminal that takes escape sequences */
