# Errors; contexts, pooled by device and precision; progress, Ctrl-C.

from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8(str text) except NULL # lives as long as the text

VERSION = paritas_version().decode()
UNPACKED_MIB, UNPACKED_TIMES = PARITAS_UNPACKED_MIB, PARITAS_UNPACKED_TIMES # archives may not unpack further


class Error(RuntimeError):
    """Any failure of the library. `status` is its name in C ("INVALID_INPUT")."""

    status = ""


class InvalidArgument(Error, ValueError):
    """An argument that is not valid. The message names it."""


class NotFound(Error, LookupError):
    """The input has no such parameter, measurement, patch or name."""


class InvalidInput(Error, ValueError):
    """A wrong document. The message has file, JSON path and reason."""


class Unreadable(Error, OSError):
    """A file that could not be read."""


class Unwritable(Error, OSError):
    """A file that could not be written."""


class DeviceUnavailable(Error):
    """The device, or a precision on it, is not available. The message says why."""


class NotConverged(Error):
    """A fit that the answer needs did not converge."""


class OutOfMemory(Error, MemoryError):
    """Memory could not be allocated."""


cdef dict ERRORS = {
    <int>PARITAS_OUT_OF_MEMORY: OutOfMemory, <int>PARITAS_INVALID_ARGUMENT: InvalidArgument,
    <int>PARITAS_NOT_FOUND: NotFound, <int>PARITAS_INVALID_INPUT: InvalidInput,
    <int>PARITAS_UNREADABLE: Unreadable, <int>PARITAS_UNWRITABLE: Unwritable,
    <int>PARITAS_NO_DEVICE: DeviceUnavailable, <int>PARITAS_NOT_CONVERGED: NotConverged,
}

cdef object raise_status(paritas_status status, str message):
    kind = ERRORS.get(<int>status, Error)
    error = kind(message if message else paritas_status_message(status).decode())
    error.status = paritas_status_name(status).decode().removeprefix("PARITAS_")
    raise error


cdef double CALLBACK_INTERVAL = 0.05 # s between checks of signals and progress

cdef double now() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return t.tv_sec + 1e-9 * t.tv_nsec

cdef int tell(void *user, uint64_t done, uint64_t total) noexcept nogil:
    cdef double time = now()
    with gil:
        context = <Context>user
        context.left = total - done
        context.total = total
        if done < total and time < context.next_look:
            return 0
        context.next_look = time + CALLBACK_INTERVAL
        try:
            PyErr_CheckSignals()
            if context.progress is not None:
                context.progress(done, total)
        except BaseException as error: # raised by Context.end
            context.error = error
            return 1
    return 0

cdef void note(void *user, const char *message) noexcept nogil:
    with gil:
        context = <Context>user
        if context.notes is not None:
            try:
                context.notes(message.decode(errors="replace"))
            except BaseException as error:
                context.error = error


cdef class Context:
    """A paritas_context for one call at a time, between begin() and end()."""

    cdef paritas_context *c
    cdef paritas_status status
    cdef list idle             # its pool
    cdef object progress, notes, error
    cdef double next_look
    cdef uint64_t left, total # jobs last reported

    def __dealloc__(self):
        paritas_close(self.c)

    cdef int end(self) except -1:
        """Gives the context back, then checks."""
        self.idle.append(self)
        return self.check()

    cdef int check(self) except -1:
        """Raises what a callback raised, or the library's error. Tells progress of the end if still due."""
        cdef object error = self.error, progress = self.progress
        cdef uint64_t total = self.total if self.left > 0 else 0
        self.progress = self.error = None
        self.left = 0
        if error is not None:
            raise error
        if self.status != PARITAS_OK:
            raise_status(self.status, paritas_error_message(self.c).decode(errors="replace"))
        if progress is not None and total > 0:
            progress(total, total)
        return 0


cdef class Engine:
    """Device, precision and threads, with a context for each concurrent call. Contexts live as long as the
    engine, since models outlive the calls that made them."""

    cdef list idle
    cdef paritas_options options
    cdef tuple texts # the options point to them
    cdef object notes
    cdef readonly str device, precision, polish, kernels

    def __init__(self, device="cpu", precision=None, unsigned threads=0, isa=None, unsigned lanes=0,
                 unsigned workers=0, cache=None, bint polish=True, size_t stream=0, notes=None,
                 bint again=False):
        cdef dict precisions = {"f64": 64, "f32": 32, "auto": PARITAS_PRECISION_AUTO}
        if precision is not None and precision not in precisions:
            raise InvalidArgument(f"`precision` {precision!r}: there are {', '.join(precisions)}")
        self.idle = []
        self.texts = device, isa or None, cache or None
        self.notes = notes
        self.options = paritas_options_default
        self.options.device = PyUnicode_AsUTF8(device)
        if isa: self.options.isa = PyUnicode_AsUTF8(isa)
        if cache: self.options.cache = PyUnicode_AsUTF8(cache)
        self.options.precision = precisions.get(precision, 0) # None: the device's
        self.options.threads, self.options.lanes, self.options.workers = threads, lanes, workers
        self.options.no_polish, self.options.again = not polish, again
        self.options.stream = <void *>stream
        self.options.progress, self.options.note = tell, note
        cdef Context first = self.open()
        self.device = paritas_device_name(first.c).decode()
        self.precision = paritas_precision_name(first.c).decode()
        self.polish = paritas_polish_name(first.c).decode()
        self.kernels = paritas_isa_name(first.c).decode()
        self.idle.append(first)

    cdef Context open(self):
        cdef Context context = Context()
        cdef paritas_options options = self.options
        options.progress_user = options.note_user = <void *>context
        context.idle, context.notes = self.idle, self.notes
        with nogil:
            context.status = paritas_open(&options, &context.c)
        context.check()
        return context


cdef Engine HOST = Engine() # documents and models; default for fits

def host_engine():
    """CPU, f64, a thread each processor."""
    return HOST


cdef Context begin(Engine engine, object progress):
    """For one call, until its end()."""
    if engine is None:
        engine = HOST
    cdef Context context = <Context>engine.idle.pop() if engine.idle else engine.open()
    context.progress = progress
    context.next_look = 0.0
    return context


def driver_settings():
    """Environment variables with which some drivers keep the bits or compile without a crash."""
    cdef list settings = []
    while paritas_driver_setting(len(settings)) != NULL:
        settings.append(paritas_driver_setting(len(settings)).decode())
    return dict(setting.split("=") for setting in settings)


def cache_folder(environment not None):
    """The folder for compiled kernels by these environment variables, as the program's; "": none."""
    cdef list given = [None if text is None else text.encode(errors="surrogateescape") for text in
                       [environment.get(name) for name in ("PARITAS_CACHE", "XDG_CACHE_HOME", "HOME")]]
    cdef const char *texts[3]
    cdef char path[4096]
    cdef int i
    for i in range(3):
        texts[i] = NULL if given[i] is None else <const char *>given[i]
    if paritas_cache_folder(texts[0], texts[1], texts[2], sizeof(path), path) == NULL:
        return ""
    return path.decode(errors="surrogateescape")


def list_devices(Engine engine=None):
    """Rows of paritas_device_info of all installed devices."""
    cdef Array rows = new_rows("paritas_device_info", 64)
    cdef size_t count = 0
    paritas_list_devices(64, rows.rows, &count, engine)
    return rows.array[:count]
