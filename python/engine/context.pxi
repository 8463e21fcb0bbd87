# Contexts, a pool for each choice of device and precision; errors; progress, Ctrl-C.

from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

VERSION = paritas_version().decode()


class Error(RuntimeError):
    """Any failure of the library; `status` is its name in paritas.h ("INVALID_INPUT")."""

    status = ""


class InvalidArgument(Error, ValueError):
    """An argument that is not valid, named in the message."""


class NotFound(Error, LookupError):
    """The input has no such parameter, measurement, patch or name."""


class InvalidInput(Error, ValueError):
    """A document that is wrong: file, JSON path and reason are in the message."""


class Unreadable(Error, OSError):
    """A file that could not be read."""


class Unwritable(Error, OSError):
    """A file that could not be written."""


class DeviceUnavailable(Error):
    """The device, or a precision on it, is not available; the message says why."""


class NotConverged(Error):
    """A fit that the answer needs did not converge."""


class OutOfMemory(Error, MemoryError):
    """Memory could not be allocated."""


cdef dict ERRORS = {
    <int>PARITAS_OUT_OF_MEMORY: OutOfMemory, <int>PARITAS_INVALID_ARGUMENT: InvalidArgument, <int>PARITAS_NOT_FOUND: NotFound,
    <int>PARITAS_INVALID_INPUT: InvalidInput, <int>PARITAS_UNREADABLE: Unreadable, <int>PARITAS_UNWRITABLE: Unwritable,
    <int>PARITAS_NO_DEVICE: DeviceUnavailable, <int>PARITAS_NOT_CONVERGED: NotConverged,
}

cdef object raise_status(paritas_status status, str message):
    kind = ERRORS.get(<int>status, Error)
    error = kind(message if message else paritas_status_message(status).decode())
    error.status = paritas_status_name(status).decode().removeprefix("PARITAS_")
    raise error


cdef list names_of(size_t n, const char *(*name)(int) noexcept):
    return [name(<int>i).decode() for i in range(n)]

cdef const char *fit_status_text(int status) noexcept: return paritas_fit_status_name(<paritas_fit_status>status)
cdef const char *state_text(int state) noexcept: return paritas_parameter_state_name(<paritas_parameter_state>state)
cdef const char *minimizer_text(int minimizer) noexcept: return paritas_minimizer_name(<paritas_minimizer>minimizer)

FIT_STATUSES = names_of(5, fit_status_text)        # by value of paritas_fit_status
PARAMETER_STATES = names_of(4, state_text)
PARITAS_MINIMIZER_COUNT = names_of(3, minimizer_text)
TEST_STATISTICS = ["qtilde", "q", "q0"]

cdef double CALLBACK_INTERVAL = 0.05 # s between looks at signals and the progress function

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
        except BaseException as error: # handed on by Context.check
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
    """A paritas_context: used by one call at a time."""

    cdef paritas_context *c
    cdef object progress, notes, error
    cdef double next_look
    cdef uint64_t left, total # of the jobs last told of

    def __dealloc__(self):
        paritas_close(self.c)

    cdef int check(self, paritas_status status) except -1:
        """Raises what the callbacks caught, else what the library said; a call that was told of to an end
        short of its total is told to have reached it."""
        cdef object error = self.error, progress = self.progress
        cdef uint64_t total = self.total if self.left > 0 else 0
        self.progress = None
        self.left = 0
        if error is not None:
            self.error = None
            raise error
        if status != PARITAS_OK:
            raise_status(status, paritas_error_message(self.c).decode(errors="replace"))
        if progress is not None and total > 0:
            progress(total, total)
        return 0


cdef class Engine:
    """A choice of device, precision and threads, with as many contexts as calls run at once. They live as
    long as the engine, and engines as long as the process: models outlive any one call."""

    cdef list idle
    cdef bytes isa, cache
    cdef bytes device_asked
    cdef unsigned threads, lanes, precision_asked, workers
    cdef bint no_polish
    cdef size_t stream
    cdef object notes
    cdef readonly str device, precision, polish, kernels

    def __init__(self, device="cpu", precision="f64", unsigned threads=0, isa=None, unsigned lanes=0, unsigned workers=0, cache=None, bint polish=True,
                 size_t stream=0, notes=None):
        if precision not in ("f64", "f32", "auto"):
            raise InvalidArgument(f"precision {precision!r}: there are 'f64', 'f32' and 'auto'")
        self.idle = []
        self.device_asked = device.encode()
        self.precision_asked = {"f64": 64, "f32": 32, "auto": PARITAS_PRECISION_AUTO}[precision]
        self.threads, self.lanes, self.workers = threads, lanes, workers
        self.isa = isa.encode() if isa else None
        self.cache = cache.encode() if cache else None
        self.no_polish = not polish
        self.stream = stream
        self.notes = notes
        cdef Context first = self.open()
        self.device = paritas_device_name(first.c).decode()
        self.precision = paritas_precision_name(first.c).decode()
        self.polish = paritas_polish_name(first.c).decode()
        self.kernels = paritas_isa_name(first.c).decode()
        self.idle.append(first)

    cdef Context open(self):
        cdef Context context = Context()
        cdef paritas_options options
        cdef paritas_status status
        memset(&options, 0, sizeof(options))
        options.size = sizeof(options)
        options.threads = self.threads
        options.lanes = self.lanes
        options.workers = self.workers
        options.precision = self.precision_asked
        options.device = self.device_asked
        if self.isa is not None: options.isa = self.isa
        if self.cache is not None: options.cache = self.cache
        options.no_polish = self.no_polish
        options.stream = <void *>self.stream
        options.progress = tell
        options.progress_user = <void *>context
        options.note = note
        options.note_user = <void *>context
        context.notes = self.notes
        with nogil:
            status = paritas_open(&options, &context.c)
        context.check(status)
        return context

    cdef Context take(self, progress):
        """A context that no other call uses; to be given back."""
        cdef Context context = <Context>self.idle.pop() if self.idle else self.open()
        context.progress = progress
        context.next_look = 0.0
        return context

    cdef inline void give(self, Context context):
        self.idle.append(context)


cdef Engine HOST = Engine() # reads documents and makes models; fits unless another is asked for

def host_engine():
    """The CPU in f64 with a thread for each processor."""
    return HOST


def list_devices(engine=None):
    """(name, description, isa, f64, f32, reason_f64, reason_f32) of each device that the installed drivers
    tell of."""
    cdef Engine e = engine or HOST
    cdef Context context = e.take(None)
    cdef size_t count = 0, i
    cdef paritas_device_info found[64]
    cdef paritas_status status
    with nogil:
        status = paritas_list_devices(context.c, 64, found, &count)
    e.give(context)
    context.check(status)
    return [(found[i].name.decode(), found[i].description.decode(errors="replace"), found[i].isa.decode(), bool(found[i].f64), bool(found[i].f32),
             found[i].reason_f64.decode(errors="replace"), found[i].reason_f32.decode(errors="replace")) for i in range(min(count, 64))]


# ---- arrays ----

cdef inline object new_array(cnp.npy_intp n):
    return cnp.PyArray_EMPTY(1, &n, cnp.NPY_FLOAT64, 0)

cdef inline object new_matrix(cnp.npy_intp rows, cnp.npy_intp columns):
    cdef cnp.npy_intp shape[2]
    shape[0] = rows
    shape[1] = columns
    return cnp.PyArray_EMPTY(2, shape, cnp.NPY_FLOAT64, 0)

cdef inline object new_block(cnp.npy_intp blocks, cnp.npy_intp rows, cnp.npy_intp columns):
    cdef cnp.npy_intp shape[3]
    shape[0] = blocks
    shape[1] = rows
    shape[2] = columns
    return cnp.PyArray_EMPTY(3, shape, cnp.NPY_FLOAT64, 0)

cdef inline double *numbers(object array):
    return <double *>cnp.PyArray_DATA(<cnp.ndarray>array)

cdef inline object five(const double *at):
    cdef object array = new_array(5)
    memcpy(numbers(array), at, 5 * sizeof(double))
    return array

cdef object vector(object given, Py_ssize_t n, str what):
    """`given` as a contiguous float64 array of n numbers: itself where it is one."""
    cdef object array = cnp.PyArray_FROMANY(given, cnp.NPY_FLOAT64, 0, 0, cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED)
    if cnp.PyArray_NDIM(<cnp.ndarray>array) != 1 or cnp.PyArray_SIZE(<cnp.ndarray>array) != n:
        raise InvalidArgument(f"{what}: {n} numbers are wanted, the array given has shape {np.shape(given)}")
    return array

cdef object matrix(object given, Py_ssize_t n, str what):
    """The same for rows of n numbers; one row may come as a vector."""
    cdef object array = cnp.PyArray_FROMANY(given, cnp.NPY_FLOAT64, 0, 0, cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED)
    if cnp.PyArray_NDIM(<cnp.ndarray>array) == 1:
        array = array.reshape(1, -1)
    if cnp.PyArray_NDIM(<cnp.ndarray>array) != 2 or cnp.PyArray_DIM(<cnp.ndarray>array, 1) != n:
        raise InvalidArgument(f"{what}: rows of {n} numbers are wanted, the array given has shape {np.shape(given)}")
    return array

cdef object flags(object given, Py_ssize_t n, str what):
    cdef object array = np.ascontiguousarray(given, dtype=np.uint8)
    if array.shape != (n,):
        raise InvalidArgument(f"{what}: {n} flags are wanted, the array given has shape {np.shape(given)}")
    return array
