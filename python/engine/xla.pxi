# XLA's foreign functions for JAX. JAX's callbacks would copy every argument to a device and back.

from cpython.pycapsule cimport PyCapsule_New

cdef extern from "xla_ffi.h":
    int XLA_F32, XLA_F64, XLA_S32, XLA_INVALID_ARGUMENT, XLA_METADATA
    cdef struct xla_extension:
        int type
    cdef struct xla_version:
        int major, minor
    cdef struct xla_metadata:
        xla_version version
        unsigned traits
    cdef struct xla_metadata_extension:
        xla_metadata *metadata
    cdef struct xla_error_arguments:
        size_t size
        const char *message
        int code
    cdef struct xla_api:
        xla_version version
        void *(*make_error)(xla_error_arguments *arguments) noexcept
    cdef struct xla_buffer:
        int type
        void *data
        long long rank
        long long *dimensions
    cdef struct xla_buffers:
        long long count
        xla_buffer **at
    cdef struct xla_scalar:
        void *value
    cdef struct xla_attributes:
        long long count
        xla_scalar **at
    cdef struct xla_call:
        xla_extension *extension
        const xla_api *api
        xla_buffers arguments, results
        xla_attributes attributes

#: functions of (arguments, results), lists of arrays; a call's int64 attribute is the index. Never freed,
#: since compiled programs may name them
cdef list XLA_FUNCTIONS = []

#: of the interface's version, which a function tells when it is registered
cdef int XLA_MINOR = 0

def xla_function(function):
    """Returns its index for XLA."""
    XLA_FUNCTIONS.append(function)
    return len(XLA_FUNCTIONS) - 1


cdef dict XLA_KINDS = {XLA_F64: cnp.NPY_FLOAT64, XLA_F32: cnp.NPY_FLOAT32, XLA_S32: cnp.NPY_INT32}

cdef list arrays_of(const xla_buffers *buffers):
    """Views of XLA's memory, for the call."""
    cdef cnp.npy_intp shape[32]
    cdef long long i, d
    cdef int kind
    cdef xla_buffer *buffer
    cdef list found = []
    for i in range(buffers.count):
        buffer = buffers.at[i]
        kind = XLA_KINDS.get(buffer.type, cnp.NPY_NOTYPE)
        if kind == cnp.NPY_NOTYPE or buffer.rank > 32:
            raise InvalidArgument("arrays of float32, float64 or int32 are wanted, of 32 dimensions at most")
        for d in range(buffer.rank):
            shape[d] = buffer.dimensions[d]
        found.append(cnp.PyArray_SimpleNewFromData(<int>buffer.rank, shape, kind, buffer.data))
    return found


cdef void *answer_xla(xla_call *call) noexcept with gil:
    cdef xla_error_arguments error
    cdef xla_metadata *metadata
    cdef bytes message
    if call.extension != NULL and call.extension.type == XLA_METADATA:
        metadata = (<xla_metadata_extension *>call.extension).metadata
        metadata.version.major = 0
        metadata.version.minor = XLA_MINOR
        metadata.traits = 0
        return NULL
    try:
        function = XLA_FUNCTIONS[(<long long *>call.attributes.at[0].value)[0]]
        function(arrays_of(&call.arguments), arrays_of(&call.results))
        return NULL
    except BaseException as raised:
        message = f"{type(raised).__name__}: {raised}".encode()
        memset(&error, 0, sizeof(error))
        error.size = sizeof(error)
        error.message = message
        error.code = XLA_INVALID_ARGUMENT
        return call.api.make_error(&error)


def xla_handler(int minor):
    """For JAX to register; the interface is version 0 with this minor number."""
    global XLA_MINOR
    XLA_MINOR = minor
    return PyCapsule_New(<void *>answer_xla, NULL, NULL)
