/* fake_objc.c: the runtime and Foundation, of what stands in for Apple's (fake.h). An object is a struct with
 * a kind and a count; its methods are functions of C found by (kind, selector). objc_msgSend, a few
 * instructions of assembler, hands any arguments on as they came. */
#include "metal/fake_object.h"

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

void fake_violation(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (fake_metal.violations++ == 0)
        vsnprintf(fake_metal.violation, sizeof fake_metal.violation, format, arguments);
    va_end(arguments);
}

/* ---- objects ---------------------------------------------------------------------------------- */

static const char *const kind_names[] = {
    "any",          "NSString",   "MTLCompileOptions", "NSProcessInfo",    "a string",  "options",
    "process info", "an array",   "an error",          "a device",         "a queue",   "a library",
    "a function",   "a pipeline", "a buffer",          "a command buffer", "an encoder"};

static struct object string_class = {.kind = STRING_CLASS, .count = 1},
                     options_class = {.kind = OPTIONS_CLASS, .count = 1},
                     process_class = {.kind = PROCESS_CLASS, .count = 1},
                     process = {.kind = PROCESS, .count = 1};

id fake_new(enum kind kind)
{
    id object = calloc(1, sizeof *object);
    if (!object) abort();
    object->kind = kind;
    object->count = 1;
    fake_metal.live++;
    return object;
}

id fake_retain(id object)
{
    if (object) object->count++;
    return object;
}

void fake_release(id object)
{
    if (--object->count > 0) return;
    if (object->count < 0) {
        fake_violation("%s is released once too often", kind_names[object->kind]);
        return;
    }
    fake_device_goes(object);
    for (size_t k = 0; k < BUFFERS + 1; k++)
        if (object->held[k]) fake_release(object->held[k]);
    free(object->bytes);
    free(object);
    fake_metal.live--;
}

static id pooled[4096];
static size_t n_pooled, pool_starts[64];

id fake_pass(id object)
{
    if (fake_metal.pools == 0)
        fake_violation("%s is made without a pool around it", kind_names[object->kind]);
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
        fake_violation("pools are not popped in their order");
        return;
    }
    fake_metal.pools--;
    while (n_pooled > pool_starts[fake_metal.pools]) fake_release(pooled[--n_pooled]);
}

static void set_text(id object, const void *text, size_t length)
{
    object->bytes = malloc(length + 1);
    if (!object->bytes) abort();
    memcpy(object->bytes, text, length);
    object->bytes[length] = '\0';
    object->length = length;
}
id fake_pass_string(const char *text)
{
    id string = fake_new(STRING);
    set_text(string, text, strlen(text));
    return fake_pass(string);
}

id fake_pass_error(long code, const char *words)
{
    if (fake_metal.faults.without_words) return NULL;
    id error = fake_new(ERROR);
    error->code = code;
    set_text(error, words, strlen(words));
    return fake_pass(error);
}

/* ---- Foundation ------------------------------------------------------------------------------- */

static id string_alloc(id class, selector s)
{
    (void)class, (void)s;
    return fake_new(STRING);
}
static id string_init(id string, selector s, const void *bytes, uintptr_t length, uintptr_t encoding)
{
    (void)s;
    if (encoding != 4) fake_violation("a string that is not UTF-8");
    set_text(string, bytes, length);
    return string;
}
static const char *string_bytes(id string, selector s)
{
    (void)s;
    if (fake_metal.pools == 0) fake_violation("UTF8String without a pool around it");
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
    return fake_pass_string("Version 15.0 (fake)");
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
    return fake_pass_string(error->bytes);
}

static id options_alloc(id class, selector s)
{
    (void)class, (void)s;
    return fake_new(OPTIONS);
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
    if (functions != 1) fake_violation("functions that are not the precise ones");
}
static void options_fast(id options, selector s, unsigned char fast)
{
    (void)options, (void)s;
    fake_metal.was_fast_off = !fast;
}

static id any_retain(id object, selector s)
{
    (void)s;
    return fake_retain(object);
}
static void any_release(id object, selector s)
{
    (void)s;
    fake_release(object);
}

/* ---- messages --------------------------------------------------------------------------------- */

static unsigned char responds(id object, selector s, selector to);
static const struct fake_method methods[] = {
    {ANY, "retain", (method)any_retain},
    {ANY, "release", (method)any_release},
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
};
enum { METHODS = sizeof methods / sizeof methods[0] };

static method find_method(enum kind kind, selector name)
{
    if (kind == OPTIONS && fake_metal.before_macos_15 && strncmp(name, "setMath", 7) == 0) return NULL;
    for (size_t k = 0; k < METHODS; k++)
        if ((methods[k].kind == kind || methods[k].kind == ANY) && strcmp(methods[k].name, name) == 0)
            return methods[k].function;
    for (size_t k = 0; k < fake_device_n_methods; k++)
        if (fake_device_methods[k].kind == kind && strcmp(fake_device_methods[k].name, name) == 0)
            return fake_device_methods[k].function;
    return NULL;
}
static unsigned char responds(id object, selector s, selector to)
{
    (void)s;
    return find_method(object->kind, to) != NULL;
}

static uintptr_t nothing(void)
{
    return 0;
}

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
        "    stp x0, x1, [sp, #-80]!\n    stp x2, x3, [sp, #16]\n    stp x4, x5, [sp, #32]\n    stp x6, x7, "
        "[sp, #48]\n    stp x8, x30, [sp, #64]\n"
        "    bl fake_metal_find\n"
        "    mov x16, x0\n"
        "    ldp x2, x3, [sp, #16]\n    ldp x4, x5, [sp, #32]\n    ldp x6, x7, [sp, #48]\n    ldp x8, x30, "
        "[sp, #64]\n    ldp x0, x1, [sp], #80\n"
        "    br x16\n"
        ".size objc_msgSend, . - objc_msgSend\n");
#else
#error "there is no objc_msgSend for this processor"
#endif

EXPORT selector sel_registerName(const char *name)
{
    for (size_t k = 0; k < METHODS; k++)
        if (strcmp(methods[k].name, name) == 0) return methods[k].name;
    for (size_t k = 0; k < fake_device_n_methods; k++)
        if (strcmp(fake_device_methods[k].name, name) == 0) return fake_device_methods[k].name;
    fake_violation("no class knows the selector %s", name);
    return "unknown";
}

EXPORT id objc_getClass(const char *name)
{
    return strcmp(name, "NSString") == 0            ? &string_class
           : strcmp(name, "MTLCompileOptions") == 0 ? &options_class
           : strcmp(name, "NSProcessInfo") == 0     ? &process_class
                                                    : NULL;
}
