# Enumerations, records and options, from the library's descriptions; arrays.


cdef dict ENUMERATIONS = {}

def enumeration(str name not None):
    """{word: value} of an enumeration ("paritas_fit_status"), in order."""
    cdef const paritas_enumeration *found
    cdef dict values = ENUMERATIONS.get(name)
    cdef size_t i
    if values is None:
        found = paritas_enumeration_find(PyUnicode_AsUTF8(name))
        if found == NULL:
            raise KeyError(name)
        values = {found.words[i].word.decode(): found.words[i].value for i in range(found.n)}
        ENUMERATIONS[name] = values
    return values


cdef int value_of(str name, object word, str what) except? -1:
    """`what` names the argument."""
    cdef dict values = enumeration(name)
    if word not in values or word == "":
        raise InvalidArgument(f"{what} {word!r}: there are {', '.join(filter(None, values))}")
    return values[word]



cdef class Field:
    """kind: "real", "unsigned", "signed", "truth", "word", "record" or "text"."""

    cdef readonly str name, word, unit, doc, kind
    cdef readonly bint is_array
    cdef readonly str enumeration
    cdef readonly RecordType nested

    @property
    def key(self):
        """Its word, or its name in C."""
        return self.word or self.name


cdef class RecordType:
    """A struct: its fields, and the NumPy type of its rows, with C's names."""

    cdef readonly str name, doc
    cdef readonly tuple fields
    cdef readonly cnp.dtype dtype
    cdef size_t size
    cdef bint has_size # it begins with its size, which is no field


cdef extern from "numpy/arrayobject.h":
    object PyArray_Zeros(int rank, cnp.npy_intp *shape, cnp.dtype dtype, int fortran)
    object PyArray_NewFromDescr(type kind, cnp.dtype dtype, int rank, const cnp.npy_intp *shape,
                                const cnp.npy_intp *strides, void *data, int flags, PyObject *like)

cdef dict RECORDS = {}

def record(str name not None):
    """Of a struct ("paritas_limit_result")."""
    cdef RecordType made = RECORDS.get(name)
    if made is None:
        made = RECORDS[name] = described(paritas_record_find(PyUnicode_AsUTF8(name)), name)
    return made


cdef RecordType described(const paritas_record *found, str name):
    cdef RecordType made = RecordType()
    cdef const paritas_field *at
    cdef Field field
    cdef list fields = [], formats = [], offsets = []
    cdef size_t i
    if found == NULL:
        raise KeyError(name)
    for i in range(found.n_fields):
        at = &found.fields[i]
        field = Field()
        field.name, field.word = at.name.decode(), at.word.decode()
        field.unit, field.doc = at.unit.decode(), at.doc.decode()
        field.kind = paritas_field_type_name(at.type).decode()
        field.is_array = at.is_array
        if at.enumeration != NULL:
            field.enumeration = at.enumeration.name.decode()
        if at.nested != NULL:
            field.nested = record(at.nested.name.decode())
        fields.append(field)
        offsets.append(at.offset)
        formats.append(format_of(field, at))
    made.name, made.doc, made.fields = name, found.doc.decode(), tuple(fields)
    made.size, made.has_size = found.size, found.fields[0].offset > 0
    names = [field.name for field in fields]
    made.dtype = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": found.size})
    return made


cdef object format_of(Field field, const paritas_field *at):
    """NumPy's type of a field."""
    cdef dict letters = {"real": "f", "unsigned": "u"}
    if field.kind == "text":
        return f"S{at.count}"
    one = field.nested.dtype if field.kind == "record" else f"{letters.get(field.kind, 'i')}{at.size}"
    if not at.is_array:
        return one
    return (one, (at.count // at.columns, at.columns)) if at.columns > 1 else (one, (at.count,))


cdef Array new_rows(str name, cnp.npy_intp n):
    """n rows for the library to fill: zeros and sizes."""
    cdef RecordType kind = <RecordType>RECORDS.get(name) or record(name)
    cdef Array made
    cdef size_t i
    Py_INCREF(kind.dtype) # PyArray_Zeros steals it
    made = held(PyArray_Zeros(1, &n, kind.dtype, 0))
    if kind.has_size:
        for i in range(n):
            (<size_t *>(<char *>made.rows + i * kind.size))[0] = kind.size
    return made


cdef Array copied_rows(str name, object given, Py_ssize_t n, str what):
    """n rows of a record, to give back to the library."""
    cdef Array made = new_rows(name, n)
    cdef object array = np.asarray(given, dtype=made.array.dtype)
    if array.shape != (n,):
        raise unfit(what, f"one for each of the {n} sweeps is", array)
    made.array[...] = array
    return made


# ---- options as keywords ----

cdef class Option:
    """An option of a struct: kind as of Field; default: a number, a word, True or False. lower, upper:
    bounds, as (value, is the value itself allowed), or None. bits: of a whole number."""

    cdef readonly str name, word, unit, doc, kind, enumeration
    cdef readonly object default, lower, upper
    cdef readonly int bits


cdef dict OPTIONS = {}

def options(str name not None):
    """{name: Option} of a struct of options ("paritas_losscone_options")."""
    cdef const paritas_option_list *found
    cdef dict made = OPTIONS.get(name)
    cdef size_t i
    if made is None:
        found = paritas_option_list_find(PyUnicode_AsUTF8(name))
        if found == NULL:
            raise KeyError(name)
        made = OPTIONS[name] = {}
        for i in range(found.n_options):
            option = option_of(&found.options[i])
            made[option.name] = option
    return made


cdef object bound_of(const paritas_bound *bound):
    return (bound.value, not bound.open) if bound.exists else None


cdef Option option_of(const paritas_option *at):
    cdef Option made = Option()
    made.name, made.word = at.name.decode(), at.word.decode()
    made.unit, made.doc = at.unit.decode(), at.doc.decode()
    made.kind = paritas_field_type_name(at.type).decode()
    made.lower, made.upper = bound_of(&at.lower), bound_of(&at.upper)
    made.bits = 8 * at.size - (made.kind != "unsigned")
    if made.kind == "word":
        made.enumeration = at.enumeration.name.decode()
        made.default = paritas_enumeration_word(at.enumeration, <int>at.otherwise).decode()
    else:
        made.default = {"real": float, "truth": bool}.get(made.kind, int)(at.otherwise)
    return made


include "structs.pxi"

def option_values(str name not None, dict given not None):
    """All members of a struct of options: its defaults, and what is given."""
    cdef dict known = options(name), values = dict(DEFAULTS[name])
    cdef Option option
    for member, value in given.items():
        option = known.get(member)
        if option is None:
            raise TypeError(f"there is no option {member!r}; there are {', '.join(known)}")
        if option.kind == "word":
            value = value_of(option.enumeration, value, member)
        elif option.kind == "real":
            if not isinstance(value, (int, float, np.integer, np.floating)):
                raise InvalidArgument(f"{member} {value!r}: a number is wanted")
        elif not (isinstance(value, (int, np.integer, np.bool_)) and 0 <= value < 2 ** option.bits):
            raise InvalidArgument(f"{member} {value!r}: a whole number from 0 is wanted")
        values[member] = value
    return values


# ---- arrays ----

cdef inline void *address(object array):
    """NULL for None."""
    return NULL if array is None else cnp.PyArray_DATA(<cnp.ndarray>array)

@cython.final
@cython.freelist(32)
cdef class Array:
    """An array and its memory, for calls without the interpreter's lock. NULL for None."""

    cdef object array
    cdef double *at
    cdef void *rows  # the same, for records and flags
    cdef Py_ssize_t n # first length

cdef Array held(cnp.ndarray array):
    cdef Array made = Array.__new__(Array)
    made.array = array
    if array is not None:
        made.rows = address(array)
        made.at = <double *>made.rows
        made.n = len(array) if array.ndim > 0 else 1
    return made

cdef Array new_array(cnp.npy_intp n):
    return held(cnp.PyArray_EMPTY(1, &n, cnp.NPY_FLOAT64, 0))

cdef Array new_matrix(cnp.npy_intp rows, cnp.npy_intp columns):
    return held(cnp.PyArray_EMPTY(2, [rows, columns], cnp.NPY_FLOAT64, 0))

cdef Array new_block(cnp.npy_intp blocks, cnp.npy_intp rows, cnp.npy_intp columns):
    return held(cnp.PyArray_EMPTY(3, [blocks, rows, columns], cnp.NPY_FLOAT64, 0))

cpdef object unmasked(object given):
    """Itself. An array with masked numbers is refused: NumPy would drop the mask. So are arrays of complex
    numbers in a list, whose imaginary parts it would drop."""
    cdef object one
    if cnp.PyArray_CheckExact(given) or type(given) is float:
        return given
    for one in given if isinstance(given, (list, tuple)) else (given,):
        if isinstance(one, np.ma.MaskedArray) and np.ma.is_masked(one):
            raise InvalidArgument("a masked array: its mask would be lost; fill or leave out masked numbers")
        if one is not given and cnp.PyArray_Check(one) and (<cnp.ndarray>one).dtype.kind == "c":
            raise InvalidArgument("an array of complex numbers: real ones are wanted")
    return given

cdef object converted(object given, str what):
    """Of a list or an array of Python's numbers, which NumPy would not convert; other things are refused."""
    cdef object array, shown = repr(given)
    try:
        array = np.asarray(given)
        if array.dtype.kind == "O":
            return np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        pass
    shown = shown if len(shown) < 60 else f"{type(given).__name__} of {np.size(np.asarray(given, object))}"
    raise InvalidArgument(f"{what}: numbers are wanted, in rows of equal length, not {shown}")

cpdef object contiguous(object given, str what):
    """Contiguous float64; itself if it is."""
    unmasked(given)
    cdef int wanted = cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED
    try:
        return cnp.PyArray_FROMANY(given, cnp.NPY_FLOAT64, 0, 0, wanted)
    except (TypeError, ValueError):
        return converted(given, what)

cdef object unfit(str what, str wanted, object given):
    return InvalidArgument(f"{what}: {wanted} wanted, the array given has shape {np.shape(given)}")

cdef Array vector(object given, Py_ssize_t n, str what):
    """n numbers; None stays None."""
    cdef cnp.ndarray array = None if given is None else contiguous(given, what)
    if array is not None and (array.ndim != 1 or array.shape[0] != n):
        raise unfit(what, f"{n} numbers are", given)
    return held(array)

cdef Array matrix(object given, Py_ssize_t n, str what):
    """Rows of n numbers; a vector is one row; None stays None."""
    cdef cnp.ndarray array = None if given is None else contiguous(given, what)
    if array is not None and array.ndim == 1:
        array = array.reshape(1, -1)
    if array is not None and (array.ndim != 2 or array.shape[1] != n):
        raise unfit(what, f"rows of {n} numbers are", given)
    return held(array)

cdef Array array_of(object given, tuple shape, str what):
    """An array of this shape (-1: any length); None stays None."""
    cdef object array = None if given is None else contiguous(given, what)
    cdef tuple found = shape if array is None else array.shape
    if len(found) != len(shape) or any([wanted not in (-1, length) for wanted, length in zip(shape, found)]):
        text = str(shape).replace("-1", "n")
        raise InvalidArgument(f"{what}: an array of shape {text} is wanted, the one given has shape {found}")
    return held(array)

cdef Array flags(object given, Py_ssize_t n, str what):
    """n flags, as bytes."""
    cdef object array = np.ascontiguousarray(unmasked(given), dtype=np.uint8)
    if array.shape != (n,):
        raise unfit(what, f"{n} flags are", given)
    return held(array)

cdef object view(object owner, void *at, tuple shape, cnp.dtype dtype):
    """A writable array over memory that `owner` keeps."""
    cdef cnp.npy_intp lengths[3]
    cdef int i, rank = len(shape)
    for i in range(rank):
        lengths[i] = shape[i]
    Py_INCREF(dtype) # PyArray_NewFromDescr steals it
    array = PyArray_NewFromDescr(np.ndarray, dtype, rank, lengths, NULL, at, cnp.NPY_ARRAY_CARRAY, NULL)
    cnp.set_array_base(array, owner)
    return array
