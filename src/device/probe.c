/* probe.c: a child process that tries a driver. */
#define _GNU_SOURCE /* pipe2, sigaction */
#include "device/probe.h"
#include "base/platform.h"

#if !PLATFORM_FORKS

enum probe_end probe_run(paritas_context *context, struct probe *probe,
                         void (*work)(paritas_context *context, struct probe *probe))
{
    (void)context, (void)probe, (void)work;
    return PROBE_REFUSED;
}

void probe_opened(struct probe *probe, const struct paritas_device *device)
{
    (void)probe, (void)device;
}

void probe_tell(struct probe *probe)
{
    (void)probe;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds to open a device. CUDA's driver may have to wake several cards. */
#define OPENING 5000u
#define OPENING_CUDA 20000u

/* What goes through the pipe. */
enum record_kind { RECORD_NOTE = 0x50415201, RECORD_NEWS, RECORD_ANSWER };
struct record {
    enum record_kind kind;
    paritas_status status;
    bool opened, inherited;
    paritas_device_info info;
    char text[1024]; /* of a note; of the context's message */
};

/* ---- the child ---- */

static void send_record(const struct probe *probe, enum record_kind kind, const char *text)
{
    struct record record = {.kind = kind,
                            .status = probe->status,
                            .opened = probe->opened,
                            .inherited = probe->inherited,
                            .info = probe->info};
    snprintf(record.text, sizeof record.text, "%s", text);
    for (size_t sent = 0; sent < sizeof record;) {
        const ssize_t n = write(probe->pipe, (const char *)&record + sent, sizeof record - sent);
        if (n > 0)
            sent += (size_t)n;
        else if (errno != EINTR)
            _exit(1); /* nobody listens */
    }
}

static void send_note(void *user, const char *text)
{
    send_record(user, RECORD_NOTE, text);
}

void probe_opened(struct probe *probe, const struct paritas_device *device)
{
    snprintf(probe->info.name, sizeof probe->info.name, "%s", device->name);
    snprintf(probe->info.description, sizeof probe->info.description, "%.*s",
             (int)sizeof probe->info.description - 1, device->operations->describe(device));
    probe->opened = true;
    probe_tell(probe);
}

void probe_tell(struct probe *probe)
{
    send_record(probe, RECORD_NEWS, "");
}

/* Signals do what they do in a new program; the alarm ends the child if its parent is gone. */
static void leave_the_parent(unsigned milliseconds)
{
    static const int signals[] = {SIGHUP, SIGINT,  SIGQUIT, SIGILL,  SIGABRT, SIGBUS,
                                  SIGFPE, SIGSEGV, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD};
    for (size_t k = 0; k < COUNT_OF(signals); k++) signal(signals[k], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    alarm(milliseconds / 1000 + 10);
}

/* Standard output is the caller's: what drivers write there goes to standard error. */
static void redirect_output(void)
{
    const int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0) dup2(nowhere, fd);
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void run_child(const paritas_context *context, struct probe *probe, int pipe,
                      void (*work)(paritas_context *context, struct probe *probe))
{
    paritas_context own = *context;
    own.progress = NULL;
    own.note = context->note ? send_note : NULL;
    own.note_user = probe;
    own.probe = probe;
    leave_the_parent(probe->milliseconds);
    probe->pipe = fcntl(pipe, F_DUPFD_CLOEXEC, 3); /* the caller may have closed 0, 1 or 2 */
    close(pipe);
    redirect_output();
    work(&own, probe);
    send_record(probe, RECORD_ANSWER, own.message);
}

/* ---- the parent ---- */

static long long milliseconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1000LL * t.tv_sec + t.tv_nsec / 1000000;
}

/* Returns false if there is no whole record until the deadline, or the child has ended. */
static bool read_record(int pipe, long long deadline, struct record *record)
{
    for (size_t got = 0; got < sizeof *record;) {
        const long long left = deadline - milliseconds_now();
        struct pollfd ready = {.fd = pipe, .events = POLLIN};
        if (left <= 0) return false;
        const int n_ready = poll(&ready, 1, (int)left);
        if (n_ready < 0 && errno == EINTR) continue;
        if (n_ready <= 0) return false;
        const ssize_t n = read(pipe, (char *)record + got, sizeof *record - got);
        if (n == 0 || (n < 0 && errno != EINTR)) return false;
        if (n > 0) got += (size_t)n;
    }
    return true;
}

/* A driver may have written anywhere in the child. */
static bool is_sound(struct record *record)
{
    paritas_device_info *info = &record->info;
    char *const ends[] = {
        &record->text[sizeof record->text - 1],           &info->name[sizeof info->name - 1],
        &info->description[sizeof info->description - 1], &info->isa[sizeof info->isa - 1],
        &info->reason_f64[sizeof info->reason_f64 - 1],   &info->reason_f32[sizeof info->reason_f32 - 1]};
    for (size_t k = 0; k < COUNT_OF(ends); k++) *ends[k] = '\0';
    return record->kind >= RECORD_NOTE && record->kind <= RECORD_ANSWER && info->size == sizeof *info;
}

/* Returns whether the answer came. *sound: all that came could be read. */
static bool listen_to(paritas_context *context, struct probe *probe, int pipe, long long opening,
                      long long deadline, bool *sound)
{
    struct record record;
    *sound = true;
    while (read_record(pipe, probe->opened ? deadline : opening, &record)) {
        *sound = is_sound(&record);
        if (!*sound) return false;
        if (record.kind == RECORD_NOTE) {
            paritas_note_of_device(context, "%s", record.text);
            continue;
        }
        probe->status = record.status;
        probe->inherited = record.inherited;
        probe->info = record.info;
        probe->opened = record.opened;
        if (record.kind != RECORD_ANSWER) continue;
        paritas_fail(context, record.status, "%s", record.text);
        return true;
    }
    return false;
}

/* Puts into words how the child ended. `state`: from collect. */
static void describe_end(char *text, size_t room, int state)
{
    const int number = state != -1 && WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    const char *word = number == SIGABRT ? "aborted"
                       : number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE
                           ? "crashed"
                           : "was ended";
    if (number)
        snprintf(text, room, "%s (signal %d)", word, number);
    else if (state != -1 && WIFEXITED(state))
        snprintf(text, room, "ended the program with exit code %d", WEXITSTATUS(state));
    else
        snprintf(text, room, "ended the program");
}

static enum probe_end fail(paritas_context *context, const struct probe *probe, const char *what)
{
    const char *name = probe->opened ? probe->info.name : probe->name;
    paritas_fail(context, PARITAS_NO_DEVICE, "device '%s': its driver %s %s", name, what,
                 probe->opened ? "in the self-test" : "when it was opened");
    return PROBE_FAILED;
}

/* How the child ended. -1: unknown, where the caller's process collects children itself or ignores them, or
 * where a driver keeps the child in the kernel. */
static int collect(pid_t child)
{
    for (int k = 0; k < 1000; k++) {
        int state = -1;
        const pid_t got = waitpid(child, &state, WNOHANG);
        if (got == child) return state;
        if (got < 0 && errno != EINTR) return -1;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return -1;
}

enum probe_end probe_run(paritas_context *context, struct probe *probe,
                         void (*work)(paritas_context *context, struct probe *probe))
{
    probe->info = (paritas_device_info)PARITAS_INIT(paritas_device_info);
    probe->opened = probe->inherited = probe->loaded = false;
    if (context->probe_milliseconds) probe->milliseconds = context->probe_milliseconds;
    int ends[2];
    const long long now = milliseconds_now(), deadline = now + probe->milliseconds;
    const unsigned limit = strncmp(probe->name, "cuda", 4) == 0 ? OPENING_CUDA : OPENING,
                   opening = limit < probe->milliseconds ? limit : probe->milliseconds;
    if (pipe2(ends, O_CLOEXEC) != 0) return PROBE_REFUSED;
    const pid_t child = fork();
    if (child == 0) {
        run_child(context, probe, ends[1], work);
        _exit(0);
    }
    close(ends[1]);
    bool sound = true;
    const bool answered = child > 0 && listen_to(context, probe, ends[0], now + opening, deadline, &sound);
    const bool late = milliseconds_now() >= (probe->opened ? deadline : now + opening);
    close(ends[0]);
    if (child < 0) return PROBE_REFUSED;
    if (late || !sound) kill(child, SIGKILL);
    const int state = collect(child);
    if (answered) return probe->inherited ? PROBE_REFUSED : PROBE_ANSWERED;
    char what[80];
    if (!sound)
        snprintf(what, sizeof what, "wrote over the answer");
    else if (late)
        snprintf(what, sizeof what, "did not answer within %g s",
                 (probe->opened ? probe->milliseconds : opening) / 1e3);
    else
        describe_end(what, sizeof what, state);
    return fail(context, probe, what);
}

#endif
