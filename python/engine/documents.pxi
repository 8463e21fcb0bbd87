# Workspaces and patch sets: JSON documents as the library reads them.

cdef class Names:
    """paritas_names, which borrows its texts from here."""

    cdef paritas_names c
    cdef const char **items
    cdef list texts

    def __cinit__(self, given):
        cdef size_t i
        cdef str text
        self.texts = list(given)
        self.c.count = len(self.texts)
        self.c.items = self.items = <const char **>calloc(self.c.count + 1, sizeof(char *))
        if self.items == NULL:
            raise MemoryError()
        for i in range(self.c.count):
            text = self.texts[i]
            if "\0" in text:
                raise InvalidArgument(f"the name {text!r} has a zero in it, where C would end it")
            self.items[i] = PyUnicode_AsUTF8(text)

    def __dealloc__(self):
        free(self.items)


cdef str text_of(object path):
    return path.decode(errors="surrogateescape") if isinstance(path, bytes) else path


cdef class Document:
    """JSON: a workspace, a JSON Patch or a patch set, as its use shows."""

    cdef paritas_workspace *c
    cdef readonly str label

    def __dealloc__(self):
        paritas_workspace_free(self.c)

    @staticmethod
    cdef Document labelled(str label):
        cdef Document made = Document()
        made.label = label
        return made

    @staticmethod
    def read(path):
        """From a file ("-": standard input)."""
        cdef Document made = Document.labelled(text_of(path))
        cdef const char *at = PyUnicode_AsUTF8(made.label)
        cdef Context call = begin(None, None)
        with nogil:
            call.status = paritas_workspace_read(call.c, at, &made.c)
        return call.end(made)

    @staticmethod
    def parse(bytes text, str label="document"):
        """From JSON text; `label` names it in messages."""
        cdef Document made = Document.labelled(label)
        cdef const char *at = text
        cdef const char *called = PyUnicode_AsUTF8(label)
        cdef size_t length = len(text)
        cdef Context call = begin(None, None)
        with nogil:
            call.status = paritas_workspace_parse(call.c, at, length, called, &made.c)
        return call.end(made)

    def __reduce__(self):
        return Document.parse, (self.text().encode(), self.label)

    def __copy__(self):
        return self # immutable

    def __deepcopy__(self, memo):
        return self

    def patch(self, Document patch not None):
        """A copy with a JSON Patch (RFC 6902) applied."""
        cdef Document made = Document.labelled(self.label)
        cdef Context call = begin(None, None)
        with nogil:
            call.status = paritas_workspace_patch(call.c, self.c, patch.c, &made.c)
        return call.end(made)

    def digest(self):
        """pyhf's digest: "sha256:" and 64 digits."""
        cdef char text[72]
        cdef Context call = begin(None, None)
        call.status = paritas_workspace_digest(call.c, self.c, text)
        call.end(None)
        return text.decode()

    def text(self, unsigned indent=0):
        """As JSON."""
        cdef char *text = NULL
        cdef size_t length = 0
        cdef Context call = begin(None, None)
        cdef str written = ""
        call.status = paritas_workspace_write(call.c, self.c, indent, &text, &length)
        if call.status == PARITAS_OK:
            written = text[:length].decode()
            paritas_text_free(call.c, text)
        return call.end(written)

    # ---- workspaces ----

    def sort(self):
        """Channels, samples, modifiers, measurements, parameters and observations by name."""
        cdef Document made = Document.labelled(f"{self.label} (sorted)")
        cdef Context call = begin(None, None)
        with nogil:
            call.status = paritas_workspace_sort(call.c, self.c, &made.c)
        return call.end(made)

    def prune(self, channels, samples, modifiers, modifier_types, measurements):
        """Without these names."""
        cdef Names of_channels = Names(channels), of_samples = Names(samples), of_modifiers = Names(modifiers)
        cdef Names of_types = Names(modifier_types), of_measurements = Names(measurements)
        cdef paritas_prune_options options = paritas_prune_options_default
        cdef Document made = Document.labelled(f"{self.label} (pruned)")
        cdef Context call = begin(None, None)
        options.channels, options.samples, options.modifiers = of_channels.c, of_samples.c, of_modifiers.c
        options.modifier_types, options.measurements = of_types.c, of_measurements.c
        with nogil:
            call.status = paritas_workspace_prune(call.c, self.c, &options, &made.c)
        return call.end(made)

    def rename(self, channels, samples, modifiers, measurements):
        """Old and new names alternate."""
        cdef Names of_channels = Names(channels), of_samples = Names(samples)
        cdef Names of_modifiers = Names(modifiers), of_measurements = Names(measurements)
        cdef paritas_rename_options options = paritas_rename_options_default
        cdef Document made = Document.labelled(f"{self.label} (renamed)")
        cdef Context call = begin(None, None)
        options.channels, options.samples = of_channels.c, of_samples.c
        options.modifiers, options.measurements = of_modifiers.c, of_measurements.c
        with nogil:
            call.status = paritas_workspace_rename(call.c, self.c, &options, &made.c)
        return call.end(made)

    def combine(self, Document other not None, str join not None, bint merge_channels):
        """With another workspace."""
        cdef const char *called = PyUnicode_AsUTF8(join)
        cdef Document made = Document.labelled(f"{self.label} (combined with {other.label})")
        cdef Context call = begin(None, None)
        with nogil:
            call.status = paritas_workspace_combine(call.c, self.c, other.c, called, merge_channels, &made.c)
        return call.end(made)

    def inspect(self):
        """Its contents, as a document."""
        cdef Document made = Document.labelled(self.label)
        cdef Context call = begin(None, None)
        with nogil:
            call.status = paritas_workspace_inspect(call.c, self.c, &made.c)
        return call.end(made)

    # ---- patch sets ----

    def verify(self, Document workspace not None):
        """Checks its digests against a workspace."""
        cdef Context call = begin(None, None)
        call.status = paritas_patchset_verify(call.c, workspace.c, self.c)
        call.end(None)

    def patch_names(self):
        """Names of the patches, in order."""
        cdef size_t count = 0, i
        cdef const char *name = NULL
        cdef list names = []
        cdef Context call = begin(None, None)
        call.status = paritas_patchset_count(call.c, self.c, &count)
        for i in range(count):
            if call.status == PARITAS_OK:
                call.status = paritas_patchset_name(call.c, self.c, i, &name)
            if call.status == PARITAS_OK:
                names.append(name.decode())
        return call.end(names)

    def apply(self, Document workspace not None, str name not None):
        """The workspace with the named patch, after a check of digests."""
        cdef Document made = Document.labelled(f"{workspace.label}, patch {name}")
        cdef const char *at = PyUnicode_AsUTF8(name)
        cdef Context call = begin(None, None)
        with nogil:
            call.status = paritas_patchset_apply(call.c, workspace.c, self.c, at, &made.c)
        return call.end(made)
