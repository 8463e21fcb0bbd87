/* fake_objc.c: see fake.h. An object is a struct with a kind and a count; its methods are functions of C found by (kind, selector).
 * objc_msgSend, a few instructions of assembler, hands any arguments on as they came.
 *
 * A command buffer runs when it is waited for, not when it is committed: who reads results before, reads old ones. */
#include "metal/fake.h"
#include "flush.h"
#include "metal/native.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT struct fake_metal fake_metal;

EXPORT void fake_metal_reset(void)
{
    const unsigned long live = fake_metal.live, pools = fake_metal.pools;
    fake_metal = (struct fake_metal){.live = live, .pools = pools};
}

static void violation(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (fake_metal.violations++ == 0) vsnprintf(fake_metal.violation, sizeof fake_metal.violation, format, arguments);
    va_end(arguments);
}

/* ---- objects ---------------------------------------------------------------------------------- */

enum kind {
    ANY, STRING_CLASS, OPTIONS_CLASS, PROCESS_CLASS, STRING, OPTIONS, PROCESS, ARRAY, ERROR, DEVICE, QUEUE, LIBRARY, FUNCTION, PIPELINE,
    BUFFER, COMMANDS, ENCODER
};
static const char *const kind_names[] = {"any", "NSString", "MTLCompileOptions", "NSProcessInfo", "a string", "options", "process info", "an array",
                                         "an error", "a device", "a queue", "a library", "a function", "a pipeline", "a buffer", "a command buffer", "an encoder"};

typedef struct object *id;
typedef const char *selector;
struct size {
    uintptr_t width, height, depth;
};
enum { BUFFERS = 6, NUMBERS = 2 };

struct object {
    enum kind kind;
    int count;
    char *bytes; /* of strings and buffers */
    size_t length;
    id held[BUFFERS + 1]; /* retained: a function's library; an encoder's commands; commands' pipeline behind its buffers */
    /* functions and pipelines */
    native_entry entry;
    uint32_t workers;
    char name[64];
    /* errors and commands */
    long code;
    int committed, encoding, ran;
    uint32_t numbers[NUMBERS];
    unsigned bound; /* a bit an argument */
    struct size groups, group;
};

static struct object string_class = {.kind = STRING_CLASS, .count = 1}, options_class = {.kind = OPTIONS_CLASS, .count = 1},
                     process_class = {.kind = PROCESS_CLASS, .count = 1}, process = {.kind = PROCESS, .count = 1};
static unsigned under_way; /* command buffers that are committed and have not run */

static id new_object(enum kind kind)
{
    id object = calloc(1, sizeof *object);
    if (!object) abort();
    object->kind = kind;
    object->count = 1;
    fake_metal.live++;
    return object;
}

static id retain(id object, selector unused)
{
    (void)unused;
    if (object) object->count++;
    return object;
}

static void run_commands(id commands);

static void release(id object, selector unused)
{
    (void)unused;
    if (--object->count > 0) return;
    if (object->count < 0) {
        violation("%s is released once too often", kind_names[object->kind]);
        return;
    }
    if (object->kind == COMMANDS && object->encoding) violation("a command buffer goes while it is encoded");
    if (object->kind == COMMANDS && object->committed && !object->ran) run_commands(object);
    for (size_t k = 0; k < BUFFERS + 1; k++)
        if (object->held[k]) release(object->held[k], NULL);
    free(object->bytes);
    free(object);
    fake_metal.live--;
}

static id pooled[4096];
static size_t n_pooled, pool_starts[64];

static id autorelease(id object)
{
    if (fake_metal.pools == 0) violation("%s is made without a pool around it", kind_names[object->kind]);
    if (n_pooled == sizeof pooled / sizeof pooled[0]) abort();
    pooled[n_pooled++] = object;
    return object;
}

EXPORT void *objc_autoreleasePoolPush(void)
{
    if (fake_metal.pools == sizeof pool_starts / sizeof pool_starts[0]) abort();
    pool_starts[fake_metal.pools++] = n_pooled;
    return &pool_starts[fake_metal.pools - 1];
}
EXPORT void objc_autoreleasePoolPop(void *pool)
{
    if (fake_metal.pools == 0 || pool != &pool_starts[fake_metal.pools - 1]) {
        violation("pools are not popped in their order");
        return;
    }
    fake_metal.pools--;
    while (n_pooled > pool_starts[fake_metal.pools]) release(pooled[--n_pooled], NULL);
}

static void set_text(id object, const void *text, size_t length)
{
    object->bytes = malloc(length + 1);
    if (!object->bytes) abort();
    memcpy(object->bytes, text, length);
    object->bytes[length] = '\0';
    object->length = length;
}
static id passing_string(const char *text)
{
    id string = new_object(STRING);
    set_text(string, text, strlen(text));
    return autorelease(string);
}

static id passing_error(long code, const char *words)
{
    if (fake_metal.faults.without_words) return NULL;
    id error = new_object(ERROR);
    error->code = code;
    set_text(error, words, strlen(words));
    return autorelease(error);
}

/* ---- Foundation ------------------------------------------------------------------------------- */

static id string_alloc(id class, selector s)
{
    (void)class, (void)s;
    return new_object(STRING);
}
static id string_init(id string, selector s, const void *bytes, uintptr_t length, uintptr_t encoding)
{
    (void)s;
    if (encoding != 4) violation("a string that is not UTF-8");
    set_text(string, bytes, length);
    return string;
}
static const char *string_bytes(id string, selector s)
{
    (void)s;
    if (fake_metal.pools == 0) violation("UTF8String without a pool around it");
    return string->bytes;
}
static id process_info(id class, selector s)
{
    (void)class, (void)s;
    return &process;
}
static id system_version(id object, selector s)
{
    (void)object, (void)s;
    return passing_string("Version 15.0 (fake)");
}
static uintptr_t array_count(id array, selector s)
{
    (void)s;
    return array->length;
}
static id array_at(id array, selector s, uintptr_t index)
{
    (void)s;
    if (index >= array->length) abort();
    return array->held[index];
}
static long error_code(id error, selector s)
{
    (void)s;
    return error->code;
}
static id error_words(id error, selector s)
{
    (void)s;
    return passing_string(error->bytes);
}

/* ---- devices and memory ----------------------------------------------------------------------- */

EXPORT id MTLCopyAllDevices(void)
{
    if (fake_metal.faults.nil_devices) return NULL;
    id array = new_object(ARRAY);
    array->length = fake_metal.faults.no_devices ? 0 : 2;
    for (size_t k = 0; k < array->length; k++) array->held[k] = new_object(DEVICE);
    return array;
}
static id device_name(id device, selector s)
{
    (void)device, (void)s;
    return passing_string("Fake GPU");
}
static uintptr_t device_memory(id device, selector s)
{
    (void)device, (void)s;
    return (uintptr_t)1 << 30;
}
static id device_queue(id device, selector s)
{
    (void)device, (void)s;
    return fake_metal.faults.no_queue ? NULL : new_object(QUEUE);
}
static id device_buffer(id device, selector s, uintptr_t length, uintptr_t options)
{
    (void)device, (void)s;
    if (options != 0) violation("a buffer that the host cannot read");
    if (length == 0) violation("a buffer of no bytes");
    fake_metal.buffers++;
    if (fake_metal.buffers == fake_metal.faults.nil_buffer) return NULL;
    if (fake_metal.faults.buffer_most && length > fake_metal.faults.buffer_most) return NULL;
    id buffer = new_object(BUFFER);
    buffer->bytes = malloc(length); /* exactly as large, so that an address sanitizer sees what lies behind */
    if (!buffer->bytes) abort();
    memset(buffer->bytes, 0xff, length); /* NaN: nothing may be read that was not written */
    buffer->length = length;
    return buffer;
}
static void *buffer_contents(id buffer, selector s)
{
    (void)s;
    if (under_way) violation("the host touches a buffer while a kernel may run");
    return buffer->bytes;
}

/* ---- kernels ---------------------------------------------------------------------------------- */

static id options_alloc(id class, selector s)
{
    (void)class, (void)s;
    return new_object(OPTIONS);
}
static id options_init(id options, selector s)
{
    (void)s;
    fake_metal.was_safe = fake_metal.was_fast_off = false;
    return options;
}
static void options_math_mode(id options, selector s, intptr_t mode)
{
    (void)options, (void)s;
    fake_metal.was_safe = mode == 0;
}
static void options_functions(id options, selector s, intptr_t functions)
{
    (void)options, (void)s;
    if (functions != 1) violation("functions that are not the precise ones");
}
static void options_fast(id options, selector s, unsigned char fast)
{
    (void)options, (void)s;
    fake_metal.was_fast_off = !fast;
}

/* Whether `text` goes on with the whole of a file; it then points behind that. */
static bool skip_file(const char **text, const char *path)
{
    bool same = true;
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    for (int c; same && (c = fgetc(file)) != EOF;) same = (unsigned char)*(*text)++ == (unsigned)c;
    fclose(file);
    return same;
}

static id device_library(id device, selector s, id source, id options, id *error)
{
    (void)device, (void)s;
    unsigned workers = 0;
    int settings = 0;
    char entry[sizeof source->name] = "";
    fake_metal.libraries++;
    if (!options || options->kind != OPTIONS) violation("a library without options");
    if (fake_metal.faults.compiler) {
        *error = passing_error(3, fake_metal.faults.compiler);
        return NULL;
    }
    sscanf(source->bytes, "#define PARITAS_F64 0\n#define PARITAS_WORKERS %u\n#define PARITAS_ENTRY %63s%n", &workers, entry, &settings);
    const char *text = source->bytes + settings + 1;
    bool known = settings > 0 && skip_file(&text, METAL_DIALECT) && *text++ == '\n';
    const char *module = text;
    if (known && !skip_file(&text, METAL_MODULE)) {
        text = module;
        known = skip_file(&text, METAL_CONFORMANCE);
    }
    if (!known || strcmp(text, "\nKERNEL_OF(PARITAS_ENTRY)\n") != 0) {
        *error = passing_error(3, "the text is not the one that the native kernels were built from");
        return NULL;
    }
    id library = new_object(LIBRARY);
    library->workers = workers;
    memcpy(library->name, entry, sizeof entry);
    const struct native_kernel *table = workers == 1 ? native_kernels_one : native_kernels_many;
    for (; table->name; table++)
        if (strcmp(table->name, entry) == 0) library->entry = table->entry;
    return library;
}
static id library_function(id library, selector s, id name)
{
    (void)s;
    if (fake_metal.faults.nil_function || !library->entry || strcmp(name->bytes, library->name) != 0) return NULL;
    id function = new_object(FUNCTION);
    function->held[0] = retain(library, NULL);
    function->entry = library->entry;
    function->workers = library->workers;
    return function;
}
static id device_pipeline(id device, selector s, id function, id *error)
{
    (void)device, (void)s;
    if (fake_metal.faults.pipeline) {
        *error = passing_error(2, fake_metal.faults.pipeline);
        return NULL;
    }
    id pipeline = new_object(PIPELINE);
    pipeline->entry = function->entry;
    pipeline->workers = function->workers;
    return pipeline;
}
static uintptr_t pipeline_threads(id pipeline, selector s)
{
    (void)pipeline, (void)s;
    return fake_metal.threads_most ? fake_metal.threads_most : 1024;
}

/* ---- running ---------------------------------------------------------------------------------- */

static id queue_commands(id queue, selector s)
{
    (void)queue, (void)s;
    fake_metal.commands++;
    if (fake_metal.commands == fake_metal.faults.nil_commands) return NULL;
    id commands = new_object(COMMANDS);
    const unsigned failing = fake_metal.faults.failing_commands;
    if (failing && (fake_metal.commands == failing || (fake_metal.faults.then_all && fake_metal.commands > failing)))
        commands->code = fake_metal.faults.failing_code;
    return autorelease(commands);
}
static id commands_encoder(id commands, selector s)
{
    (void)s;
    if (fake_metal.faults.nil_encoder) return NULL;
    if (commands->committed || commands->encoding) violation("an encoder of a command buffer that is encoded or committed");
    id encoder = new_object(ENCODER);
    encoder->held[0] = retain(commands, NULL);
    commands->encoding = 1;
    return autorelease(encoder);
}
static id encoded(id encoder)
{
    id commands = encoder->held[0];
    if (!commands->encoding) violation("a call of an encoder that has ended");
    return commands;
}
static void encoder_pipeline(id encoder, selector s, id pipeline)
{
    (void)s;
    id commands = encoded(encoder);
    if (!pipeline || pipeline->kind != PIPELINE || commands->held[BUFFERS]) violation("no pipeline, or a second one");
    else commands->held[BUFFERS] = retain(pipeline, NULL);
}
static void encoder_buffer(id encoder, selector s, id buffer, uintptr_t offset, uintptr_t index)
{
    (void)s;
    id commands = encoded(encoder);
    if (!buffer || buffer->kind != BUFFER || offset != 0 || index >= BUFFERS || commands->held[index]) violation("buffer %zu is none, or misplaced", (size_t)index);
    else {
        commands->held[index] = retain(buffer, NULL);
        commands->bound |= 1u << index;
    }
}
static void encoder_bytes(id encoder, selector s, const void *bytes, uintptr_t length, uintptr_t index)
{
    (void)s;
    id commands = encoded(encoder);
    if (length != sizeof(uint32_t) || index < BUFFERS || index >= BUFFERS + NUMBERS) violation("argument %zu of %zu bytes", (size_t)index, (size_t)length);
    else {
        memcpy(&commands->numbers[index - BUFFERS], bytes, length);
        commands->bound |= 1u << index;
    }
}
static void encoder_dispatch(id encoder, selector s, struct size groups, struct size group)
{
    (void)s;
    id commands = encoded(encoder), pipeline = commands->held[BUFFERS];
    if (!pipeline || commands->bound != (1u << (BUFFERS + NUMBERS)) - 1) violation("a dispatch without all its arguments");
    if (groups.width == 0 || groups.height != 1 || groups.depth != 1 || group.height != 1 || group.depth != 1) violation("a dispatch that is not a row of teams");
    if (pipeline && (group.width != pipeline->workers || group.width > pipeline_threads(pipeline, NULL))) violation("threadgroups of %zu", (size_t)group.width);
    commands->groups = groups;
    commands->group = group;
    fake_metal.dispatches++;
    if (groups.width > fake_metal.teams_most) fake_metal.teams_most = groups.width;
}
static void encoder_end(id encoder, selector s)
{
    (void)s;
    encoded(encoder)->encoding = 0;
}
static void commands_commit(id commands, selector s)
{
    (void)s;
    if (commands->encoding || commands->committed) violation("a command buffer is committed twice, or before its encoder ends");
    commands->committed = 1;
    under_way++;
}

struct thread {
    id commands;
    uint32_t group;
};
static void run_thread(void *user, unsigned worker)
{
    const struct thread *thread = user;
    id commands = thread->commands;
    commands->held[BUFFERS]->entry((const uint32_t *)commands->held[0]->bytes, (const float *)commands->held[1]->bytes, (const uint32_t *)commands->held[2]->bytes,
                                   (const float *)commands->held[3]->bytes, (float *)commands->held[4]->bytes, (float *)commands->held[5]->bytes,
                                   &commands->numbers[0], &commands->numbers[1], thread->group, worker);
}
static void run_commands(id commands)
{
    commands->ran = 1;
    under_way--;
    if (commands->code != 0 || fake_metal.violations) return; /* what was bound wrongly must not run */
    native_workers = (uint32_t)commands->group.width;
    const uint64_t mode = fake_metal.flushes ? flush_begin() : 0;
    for (uint32_t g = 0; g < commands->groups.width; g++) {
        struct thread thread = {commands, g};
        if (team_run(native_workers, fake_metal.order, run_thread, &thread)) violation("some workers of a team wait at a barrier that others do not reach");
    }
    if (fake_metal.flushes) flush_end(mode);
    team_release();
}
static void commands_wait(id commands, selector s)
{
    (void)s;
    if (!commands->committed) violation("waiting for a command buffer that is not committed");
    else if (!commands->ran) run_commands(commands);
}
static uintptr_t commands_status(id commands, selector s)
{
    (void)s;
    return commands->code ? 5 : commands->ran ? 4 : commands->committed ? 2 : 0;
}
static id commands_error(id commands, selector s)
{
    (void)s;
    return commands->code ? passing_error(commands->code, "the command buffer failed") : NULL;
}

/* ---- messages --------------------------------------------------------------------------------- */

static unsigned char responds(id object, selector s, selector to);
typedef void (*method)(void);
static const struct {
    enum kind kind;
    const char *name;
    method function;
} methods[] = {
    {ANY, "retain", (method)retain},
    {ANY, "release", (method)release},
    {ANY, "respondsToSelector:", (method)responds},
    {STRING_CLASS, "alloc", (method)string_alloc},
    {STRING, "initWithBytes:length:encoding:", (method)string_init},
    {STRING, "UTF8String", (method)string_bytes},
    {OPTIONS_CLASS, "alloc", (method)options_alloc},
    {OPTIONS, "init", (method)options_init},
    {OPTIONS, "setMathMode:", (method)options_math_mode},
    {OPTIONS, "setMathFloatingPointFunctions:", (method)options_functions},
    {OPTIONS, "setFastMathEnabled:", (method)options_fast},
    {PROCESS_CLASS, "processInfo", (method)process_info},
    {PROCESS, "operatingSystemVersionString", (method)system_version},
    {ARRAY, "count", (method)array_count},
    {ARRAY, "objectAtIndex:", (method)array_at},
    {ERROR, "code", (method)error_code},
    {ERROR, "localizedDescription", (method)error_words},
    {DEVICE, "name", (method)device_name},
    {DEVICE, "maxBufferLength", (method)device_memory},
    {DEVICE, "recommendedMaxWorkingSetSize", (method)device_memory},
    {DEVICE, "newCommandQueue", (method)device_queue},
    {DEVICE, "newBufferWithLength:options:", (method)device_buffer},
    {DEVICE, "newLibraryWithSource:options:error:", (method)device_library},
    {DEVICE, "newComputePipelineStateWithFunction:error:", (method)device_pipeline},
    {LIBRARY, "newFunctionWithName:", (method)library_function},
    {PIPELINE, "maxTotalThreadsPerThreadgroup", (method)pipeline_threads},
    {BUFFER, "contents", (method)buffer_contents},
    {QUEUE, "commandBuffer", (method)queue_commands},
    {COMMANDS, "computeCommandEncoder", (method)commands_encoder},
    {COMMANDS, "commit", (method)commands_commit},
    {COMMANDS, "waitUntilCompleted", (method)commands_wait},
    {COMMANDS, "status", (method)commands_status},
    {COMMANDS, "error", (method)commands_error},
    {ENCODER, "setComputePipelineState:", (method)encoder_pipeline},
    {ENCODER, "setBuffer:offset:atIndex:", (method)encoder_buffer},
    {ENCODER, "setBytes:length:atIndex:", (method)encoder_bytes},
    {ENCODER, "dispatchThreadgroups:threadsPerThreadgroup:", (method)encoder_dispatch},
    {ENCODER, "endEncoding", (method)encoder_end},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

static method find_method(enum kind kind, selector name)
{
    if (kind == OPTIONS && fake_metal.before_macos_15 && strncmp(name, "setMath", 7) == 0) return NULL;
    for (size_t k = 0; k < METHODS; k++)
        if ((methods[k].kind == kind || methods[k].kind == ANY) && strcmp(methods[k].name, name) == 0) return methods[k].function;
    return NULL;
}
static unsigned char responds(id object, selector s, selector to)
{
    (void)s;
    return find_method(object->kind, to) != NULL;
}

static uintptr_t nothing(void) { return 0; }

/* What objc_msgSend jumps to. A method that is not there ends the program, as the real one does. */
method fake_metal_find(id object, selector name);
__attribute__((visibility("hidden"))) method fake_metal_find(id object, selector name)
{
    if (!object) return (method)nothing;
    const method found = find_method(object->kind, name);
    if (!found) {
        fprintf(stderr, "%s has no method %s\n", kind_names[object->kind], name);
        abort();
    }
    return found;
}

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl objc_msgSend\n"
        ".type objc_msgSend, @function\n"
        "objc_msgSend:\n"
        "    pushq %rdi\n    pushq %rsi\n    pushq %rdx\n    pushq %rcx\n    pushq %r8\n    pushq %r9\n"
        "    subq $8, %rsp\n"
        "    call fake_metal_find\n"
        "    addq $8, %rsp\n"
        "    popq %r9\n    popq %r8\n    popq %rcx\n    popq %rdx\n    popq %rsi\n    popq %rdi\n"
        "    jmp *%rax\n"
        ".size objc_msgSend, . - objc_msgSend\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl objc_msgSend\n"
        ".type objc_msgSend, %function\n"
        "objc_msgSend:\n"
        "    stp x0, x1, [sp, #-80]!\n    stp x2, x3, [sp, #16]\n    stp x4, x5, [sp, #32]\n    stp x6, x7, [sp, #48]\n    stp x8, x30, [sp, #64]\n"
        "    bl fake_metal_find\n"
        "    mov x16, x0\n"
        "    ldp x2, x3, [sp, #16]\n    ldp x4, x5, [sp, #32]\n    ldp x6, x7, [sp, #48]\n    ldp x8, x30, [sp, #64]\n    ldp x0, x1, [sp], #80\n"
        "    br x16\n"
        ".size objc_msgSend, . - objc_msgSend\n");
#else
#error "there is no objc_msgSend for this processor"
#endif

EXPORT selector sel_registerName(const char *name)
{
    for (size_t k = 0; k < METHODS; k++)
        if (strcmp(methods[k].name, name) == 0) return methods[k].name;
    violation("no class knows the selector %s", name);
    return "unknown";
}

EXPORT id objc_getClass(const char *name)
{
    return strcmp(name, "NSString") == 0 ? &string_class : strcmp(name, "MTLCompileOptions") == 0 ? &options_class : strcmp(name, "NSProcessInfo") == 0 ? &process_class : NULL;
}
