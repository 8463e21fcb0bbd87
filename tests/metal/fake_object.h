/* fake_object.h: objects of the runtime that stands in for Apple's, between its two files. */
#ifndef PARITAS_TESTS_METAL_FAKE_OBJECT_H
#define PARITAS_TESTS_METAL_FAKE_OBJECT_H

#include "metal/metal_fake.h"
#include "metal/metal_native.h"

enum kind {
    ANY,
    STRING_CLASS,
    OPTIONS_CLASS,
    PROCESS_CLASS,
    STRING,
    OPTIONS,
    PROCESS,
    ARRAY,
    ERROR,
    DEVICE,
    QUEUE,
    LIBRARY,
    FUNCTION,
    PIPELINE,
    BUFFER,
    COMMANDS,
    ENCODER
};

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
    /* retained: a function's library; an encoder's commands; commands' pipeline behind its buffers */
    id held[BUFFERS + 1];
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

typedef void (*method)(void);
struct fake_method {
    enum kind kind; /* whose objects have it */
    const char *name;
    method function;
};

/* The caller's. */
id fake_new(enum kind kind);
id fake_retain(id object);
void fake_release(id object);
/* The innermost pool's. */
id fake_pass(id object);
id fake_pass_string(const char *text);
id fake_pass_error(long code, const char *words);
/* Notes that a rule was broken. */
void fake_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The methods of Metal's objects, and what happens when one of those goes. */
extern const struct fake_method fake_device_methods[];
extern const size_t fake_device_n_methods;
void fake_device_goes(id object);

#endif
