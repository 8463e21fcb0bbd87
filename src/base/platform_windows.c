/* platform_windows.c: Windows 10 and newer, 64 bits.
 *
 * Paths go to the system in UTF-16. Its functions for files set GetLastError; set_errno translates. */
#define _CRT_RAND_S /* rand_s */
#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <share.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>
#include <windows.h>

#include <shellapi.h>

#define SHARE_ALL (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
#define MOST_AT_ONCE ((size_t)1 << 30) /* bytes: the C library counts in int */

static void set_errno(void)
{
    static const struct {
        DWORD system;
        int error;
    } pairs[] = {{ERROR_FILE_NOT_FOUND, ENOENT},
                 {ERROR_PATH_NOT_FOUND, ENOENT},
                 {ERROR_INVALID_NAME, ENOENT},
                 {ERROR_BAD_NETPATH, ENOENT},
                 {ERROR_BAD_PATHNAME, ENOENT},
                 {ERROR_INVALID_DRIVE, ENOENT},
                 {ERROR_ALREADY_EXISTS, EEXIST},
                 {ERROR_FILE_EXISTS, EEXIST},
                 {ERROR_DISK_FULL, ENOSPC},
                 {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
                 {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
                 {ERROR_DIRECTORY, ENOTDIR},
                 {ERROR_ACCESS_DENIED, EACCES},
                 {ERROR_SHARING_VIOLATION, EACCES},
                 {ERROR_LOCK_VIOLATION, EACCES},
                 {ERROR_TOO_MANY_OPEN_FILES, EMFILE}};
    const DWORD error = GetLastError();
    errno = EIO;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (pairs[k].system == error) errno = pairs[k].error;
}

/* UTF-16 of a path. */
struct wide {
    wchar_t text[PLATFORM_PATH_MAX];
};

static bool widen(const char *path, struct wide *wide)
{
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide->text, PLATFORM_PATH_MAX) > 0)
        return true;
    errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : ENOENT;
    return false;
}

static bool narrow(const wchar_t *text, char *path, int room)
{
    if (WideCharToMultiByte(CP_UTF8, 0, text, -1, path, room, NULL, NULL) > 0) return true;
    errno = ENAMETOOLONG;
    return false;
}

/* ---- files ---- */

/* A handle that tells nothing, as wine's standard input from a file, is read like a pipe. */
static void put_info(HANDLE handle, struct platform_info *info)
{
    BY_HANDLE_FILE_INFORMATION found;
    *info = (struct platform_info){.kind = PLATFORM_OTHER};
    if (GetFileType(handle) != FILE_TYPE_DISK || !GetFileInformationByHandle(handle, &found)) return;
    info->kind = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? PLATFORM_FOLDER : PLATFORM_FILE;
    info->size = (uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow;
    info->volume = found.dwVolumeSerialNumber;
    info->number = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
}

/* Returns INVALID_HANDLE_VALUE and sets errno at a failure. Backup semantics open folders as well. */
static HANDLE open_to_ask(const char *path, DWORD flags)
{
    struct wide wide;
    if (!widen(path, &wide)) return INVALID_HANDLE_VALUE;
    HANDLE handle = CreateFileW(wide.text, FILE_READ_ATTRIBUTES, SHARE_ALL, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
    if (handle == INVALID_HANDLE_VALUE) set_errno();
    return handle;
}

bool platform_info(const char *path, struct platform_info *info)
{
    HANDLE handle = open_to_ask(path, 0);
    if (handle == INVALID_HANDLE_VALUE) return false;
    put_info(handle, info);
    CloseHandle(handle);
    return true;
}

bool platform_info_open(int file, struct platform_info *info)
{
    put_info((HANDLE)_get_osfhandle(file), info);
    return true;
}

bool platform_exists(const char *path)
{
    HANDLE handle = open_to_ask(path, FILE_FLAG_OPEN_REPARSE_POINT);
    if (handle == INVALID_HANDLE_VALUE) return false;
    CloseHandle(handle);
    return true;
}

static bool accessible(const char *path, int mode)
{
    struct wide wide;
    return widen(path, &wide) && _waccess(wide.text, mode) == 0;
}

bool platform_readable(const char *path)
{
    return accessible(path, 4);
}

bool platform_writable(const char *path)
{
    return accessible(path, 2);
}

FILE *platform_open_stream(const char *path, const char *mode)
{
    struct wide wide;
    return widen(path, &wide) ? _wfopen(wide.text, mode[0] == 'r' ? L"rbN" : L"wbN") : NULL;
}

static int open_file(const char *path, int flags)
{
    struct wide wide;
    struct platform_info info;
    if (!widen(path, &wide)) return -1;
    if (platform_info(path, &info) && info.kind == PLATFORM_FOLDER) {
        errno = EISDIR;
        return -1;
    }
    return _wsopen(wide.text, flags | _O_BINARY | _O_NOINHERIT, _SH_DENYNO, _S_IREAD | _S_IWRITE);
}

int platform_open_read(const char *path)
{
    return open_file(path, _O_RDONLY);
}

int platform_open_write(const char *path)
{
    return open_file(path, _O_WRONLY);
}

int platform_open_temporary(char *path)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char *end = path + strlen(path) - 6;
    for (int tries = 0; tries < 100; tries++) {
        for (int i = 0; i < 6; i++) {
            unsigned number = 0;
            rand_s(&number);
            end[i] = letters[number % (sizeof letters - 1)];
        }
        const int file = open_file(path, _O_RDWR | _O_CREAT | _O_EXCL);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

ptrdiff_t platform_read(int file, void *bytes, size_t room)
{
    return _read(file, bytes, (unsigned)(room < MOST_AT_ONCE ? room : MOST_AT_ONCE));
}

bool platform_seek(int file, uint64_t at)
{
    return (uint64_t)_lseeki64(file, (int64_t)at, SEEK_SET) == at;
}

bool platform_write(int file, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        const int n = _write(file, at, (unsigned)(length < MOST_AT_ONCE ? length : MOST_AT_ONCE));
        if (n < 0) return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

bool platform_close_temporary(int file, char *path, bool keep, bool sync)
{
    bool kept = keep && (!sync || _commit(file) == 0);
    int error = errno;
    if (_close(file) != 0 && kept) {
        kept = false;
        error = errno;
    }
    if (!kept) platform_remove(path);
    errno = error;
    return kept;
}

bool platform_close(int file)
{
    return _close(file) == 0;
}

bool platform_set_permissions(int file, const char *like)
{
    (void)file, (void)like; /* files inherit those of their folder */
    return true;
}

bool platform_rename(const char *from, const char *to)
{
    struct wide old, new;
    if (!widen(from, &old) || !widen(to, &new)) return false;
    if (MoveFileExW(old.text, new.text, MOVEFILE_REPLACE_EXISTING)) return true;
    set_errno();
    return false;
}

bool platform_remove(const char *path)
{
    struct wide wide;
    return widen(path, &wide) && _wunlink(wide.text) == 0;
}

char *platform_behind_links(const char *path)
{
    return _strdup(path);
}

bool platform_real_path(const char *path, char real[PLATFORM_PATH_MAX])
{
    struct wide found;
    HANDLE handle = open_to_ask(path, 0);
    if (handle == INVALID_HANDLE_VALUE) return false;
    const DWORD length = GetFinalPathNameByHandleW(handle, found.text, PLATFORM_PATH_MAX, VOLUME_NAME_DOS);
    if (length == 0) set_errno();
    CloseHandle(handle);
    if (length >= PLATFORM_PATH_MAX) errno = ENAMETOOLONG;
    if (length == 0 || length >= PLATFORM_PATH_MAX) return false;
    /* \\?\C:\folder and \\?\UNC\server\folder, as people write them */
    wchar_t *text = found.text;
    if (wcsncmp(text, L"\\\\?\\UNC\\", 8) == 0) {
        text += 6;
        text[0] = L'\\';
    } else if (wcsncmp(text, L"\\\\?\\", 4) == 0) {
        text += 4;
    }
    return narrow(text, real, PLATFORM_PATH_MAX);
}

bool platform_is_separator(char byte)
{
    return byte == '/' || byte == '\\';
}

const char *platform_file_name(const char *path)
{
    const char *name = path;
    for (const char *at = path; *at; at++)
        if (platform_is_separator(*at) || (*at == ':' && at == path + 1)) name = at + 1;
    return name;
}

char *platform_folder_of(const char *path)
{
    size_t length = (size_t)(platform_file_name(path) - path);
    if (length == 0) return _strdup(".");
    if (length > 1 && platform_is_separator(path[length - 1]) && path[length - 2] != ':') length--;
    char *folder = malloc(length + 1);
    if (!folder) return NULL;
    memcpy(folder, path, length);
    folder[length] = '\0';
    return folder;
}

bool platform_is_absolute(const char *path)
{
    return platform_is_separator(path[0]) || (path[0] != '\0' && path[1] == ':');
}

/* ---- folders ---- */

bool platform_make_folder(const char *path)
{
    struct wide wide;
    struct platform_info info;
    if (!widen(path, &wide)) return false;
    if (_wmkdir(wide.text) == 0) return true;
    const int error = errno; /* "C:" and shares cannot be made, but are there */
    const bool there = platform_info(path, &info);
    errno = error;
    return there;
}

struct platform_folder {
    HANDLE handle;
    WIN32_FIND_DATAW found;
    bool first;
    char path[PLATFORM_PATH_MAX], name[3 * MAX_PATH + 1];
};

struct platform_folder *platform_folder_open(const char *path)
{
    struct wide pattern;
    struct platform_folder *folder = malloc(sizeof *folder);
    if (!folder) return NULL;
    const int length = snprintf(folder->path, sizeof folder->path, "%s/*", path);
    folder->handle = INVALID_HANDLE_VALUE;
    folder->first = true;
    if (length >= (int)sizeof folder->path)
        errno = ENAMETOOLONG;
    else if (widen(folder->path, &pattern)) {
        folder->handle = FindFirstFileW(pattern.text, &folder->found);
        if (folder->handle == INVALID_HANDLE_VALUE) set_errno();
    }
    if (folder->handle != INVALID_HANDLE_VALUE) {
        folder->path[length - 1] = '\0'; /* ends in a separator */
        return folder;
    }
    free(folder);
    return NULL;
}

const char *platform_folder_next(struct platform_folder *folder)
{
    errno = 0;
    if (!folder->first && !FindNextFileW(folder->handle, &folder->found)) {
        if (GetLastError() != ERROR_NO_MORE_FILES) set_errno();
        return NULL;
    }
    folder->first = false;
    return narrow(folder->found.cFileName, folder->name, sizeof folder->name) ? folder->name : NULL;
}

bool platform_folder_info(struct platform_folder *folder, const char *name, struct platform_info *info)
{
    char path[sizeof folder->path + sizeof folder->name];
    snprintf(path, sizeof path, "%s%s", folder->path, name);
    return platform_info(path, info);
}

void platform_folder_close(struct platform_folder *folder)
{
    FindClose(folder->handle);
    free(folder);
}

void platform_enlarge_pages(size_t bytes)
{
    (void)bytes;
}

const char *platform_home(void)
{
    static char home[PLATFORM_PATH_MAX];
    const wchar_t *wide = _wgetenv(L"USERPROFILE"); /* getenv's text is not UTF-8 */
    return wide && narrow(wide, home, sizeof home) ? home : NULL;
}

void platform_set_missing(const char *name, const char *value)
{
    if (!getenv(name)) _putenv_s(name, value);
}

/* ---- locks ---- */

/* Nobody else can open the file while it is held; the system removes it when its holder closes it or ends. */
enum platform_lock platform_lock_take(const char *path, int *file)
{
    struct wide wide;
    *file = -1;
    if (!widen(path, &wide)) return PLATFORM_LOCK_NOT_MADE;
    HANDLE handle = CreateFileW(wide.text, GENERIC_READ | GENERIC_WRITE | DELETE, 0, NULL, OPEN_ALWAYS,
                                FILE_ATTRIBUTE_NORMAL | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        if (GetLastError() == ERROR_SHARING_VIOLATION) return PLATFORM_LOCK_IN_USE;
        set_errno();
        return PLATFORM_LOCK_NOT_MADE;
    }
    *file = _open_osfhandle((intptr_t)handle, _O_RDWR | _O_BINARY | _O_NOINHERIT);
    if (*file >= 0) return PLATFORM_LOCK_TAKEN;
    CloseHandle(handle);
    return PLATFORM_LOCK_FAILED;
}

void platform_lock_drop(const char *path, int file)
{
    (void)path;
    _close(file);
}

bool platform_lock_is_held(const char *path)
{
    struct wide wide;
    if (!widen(path, &wide)) return false;
    HANDLE handle = CreateFileW(wide.text, GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
    if (handle == INVALID_HANDLE_VALUE) return GetLastError() == ERROR_SHARING_VIOLATION;
    CloseHandle(handle);
    return false;
}

/* ---- libraries ---- */

void *platform_library_open(const char *name)
{
    struct wide wide;
    HMODULE library = widen(name, &wide) ? LoadLibraryW(wide.text) : NULL, pinned;
    if (library) GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN, wide.text, &pinned);
    return (void *)library;
}

void platform_library_close(void *library)
{
    FreeLibrary((HMODULE)library);
}

bool platform_library_is_open(const char *name)
{
    struct wide wide;
    return widen(name, &wide) && GetModuleHandleW(wide.text) != NULL;
}

void *platform_library_find(void *library, const char *name)
{
    const FARPROC function = GetProcAddress((HMODULE)library, name);
    void *address = NULL;
    memcpy(&address, &function, sizeof address);
    return address;
}

/* ---- the process ---- */

/* Programs without a manifest are told an old version; ntdll has the true one, and Wine's names Wine. */
void platform_system(size_t room, char *text)
{
    typedef LONG(WINAPI * ask_version)(OSVERSIONINFOW *);
    typedef const char *(*ask_wine)(void);
    HMODULE library = GetModuleHandleW(L"ntdll.dll");
    OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof version};
    const ask_version ask = (ask_version)(void *)GetProcAddress(library, "RtlGetVersion");
    const ask_wine wine = (ask_wine)(void *)GetProcAddress(library, "wine_get_version");
    if (ask) ask(&version);
    snprintf(text, room, "Windows %lu.%lu.%lu%s%s", version.dwMajorVersion, version.dwMinorVersion,
             version.dwBuildNumber, wine ? ", Wine " : "", wine ? wine() : "");
}

void platform_processor(size_t room, char *text)
{
    snprintf(text, room, "unknown");
}

double platform_seconds(void)
{
    LARGE_INTEGER ticks, rate;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&rate);
    return (double)ticks.QuadPart / (double)rate.QuadPart;
}

unsigned platform_processors(void)
{
    const DWORD processors = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return processors > 0 ? (unsigned)processors : 1;
}

static UINT console_code_page; /* the user's, given back at the end */

static void give_code_page_back(void)
{
    SetConsoleOutputCP(console_code_page);
}

/* The arguments stay until the process ends; on failure they stay as they were. */
static void take_arguments(int *argc, char ***argv)
{
    int n = 0;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &n);
    char **arguments = wide ? calloc((size_t)n + 1, sizeof *arguments) : NULL;
    for (int i = 0; arguments && i < n; i++) {
        const int room = WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, NULL, 0, NULL, NULL);
        arguments[i] = malloc((size_t)room);
        if (arguments[i]) narrow(wide[i], arguments[i], room);
        if (!arguments[i]) return;
    }
    LocalFree(wide);
    if (!arguments) return;
    *argc = n;
    *argv = arguments;
}

void platform_start_program(int *argc, char ***argv)
{
    DWORD mode;
    take_arguments(argc, argv);
    for (int file = 0; file <= 2; file++) _setmode(file, _O_BINARY);
    if (!GetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), &mode) && !platform_shows_progress()) return;
    console_code_page = GetConsoleOutputCP();
    if (console_code_page && SetConsoleOutputCP(CP_UTF8)) atexit(give_code_page_back);
}

bool platform_shows_progress(void)
{
    DWORD mode;
    HANDLE handle = GetStdHandle(STD_ERROR_HANDLE);
    return GetConsoleMode(handle, &mode) &&
           SetConsoleMode(handle, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}
