# Workspaces and patch sets: JSON documents as the library reads them.

cdef class Names:
    """Texts as paritas_names, which borrows them from here."""

    cdef paritas_names c
    cdef const char **items
    cdef list texts

    def __cinit__(self, given):
        cdef size_t i
        cdef bytes text
        self.texts = [name.encode() for name in given]
        self.items = <const char **>calloc(len(self.texts) + 1, sizeof(char *))
        if self.items == NULL:
            raise MemoryError()
        for i in range(len(self.texts)):
            text = self.texts[i]
            if 0 in text:
                raise InvalidArgument(f"the name {text.decode()!r} has a zero in it, where C would end it")
            self.items[i] = text
        self.c.items = self.items
        self.c.count = len(self.texts)

    def __dealloc__(self):
        free(self.items)


cdef class Document:
    """A JSON document: a workspace, a JSON Patch or a patch set. What it is shows when it is used."""

    cdef paritas_workspace *c
    cdef readonly str label

    def __dealloc__(self):
        paritas_workspace_free(self.c)

    @staticmethod
    def read(path):
        """From a file ("-": standard input)."""
        cdef Document made = Document()
        cdef bytes name = path.encode() if isinstance(path, str) else path
        cdef const char *at = name
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        made.label = name.decode(errors="replace")
        with nogil:
            status = paritas_workspace_read(context.c, at, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    @staticmethod
    def parse(bytes text, str label="document"):
        """From JSON text; `label` names it in messages."""
        cdef Document made = Document()
        cdef bytes name = label.encode()
        cdef const char *at = text
        cdef const char *called = name
        cdef size_t length = len(text)
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        made.label = label
        with nogil:
            status = paritas_workspace_parse(context.c, at, length, called, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    def __reduce__(self):
        return Document.parse, (self.text().encode(), self.label)

    def __copy__(self):
        return self # it cannot change

    def __deepcopy__(self, memo):
        return self

    def patch(self, Document patch not None):
        """A copy with a JSON Patch (RFC 6902) applied."""
        cdef Document made = Document()
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        made.label = self.label
        with nogil:
            status = paritas_workspace_patch(context.c, self.c, patch.c, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    def digest(self):
        """pyhf's digest: "sha256:" and 64 digits."""
        cdef char text[72]
        cdef Context context = HOST.take(None)
        cdef paritas_status status = paritas_workspace_digest(context.c, self.c, text)
        HOST.give(context)
        context.check(status)
        return text.decode()

    def text(self, unsigned indent=0):
        """As JSON."""
        cdef char *text = NULL
        cdef size_t length = 0
        cdef Context context = HOST.take(None)
        cdef paritas_status status = paritas_workspace_write(context.c, self.c, indent, &text, &length)
        cdef bytes written = b""
        if status == PARITAS_OK:
            written = text[:length]
            paritas_text_free(context.c, text)
        HOST.give(context)
        context.check(status)
        return written.decode()

    # ---- of a workspace ----

    def sort(self):
        """With channels, samples, modifiers, measurements, parameters and observations in order of their
        names."""
        cdef Document made = Document()
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        made.label = f"{self.label} (sorted)"
        with nogil:
            status = paritas_workspace_sort(context.c, self.c, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    def prune(self, channels, samples, modifiers, modifier_types, measurements):
        """Without what is named, each a sequence of names."""
        cdef Names of_channels = Names(channels), of_samples = Names(samples), of_modifiers = Names(modifiers)
        cdef Names of_types = Names(modifier_types), of_measurements = Names(measurements)
        cdef paritas_prune_options options
        cdef Document made = Document()
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        options.size = sizeof(options)
        options.channels, options.samples, options.modifiers = of_channels.c, of_samples.c, of_modifiers.c
        options.modifier_types, options.measurements = of_types.c, of_measurements.c
        made.label = f"{self.label} (pruned)"
        with nogil:
            status = paritas_workspace_prune(context.c, self.c, &options, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    def rename(self, channels, samples, modifiers, measurements):
        """With other names, each a sequence in which old and new names take turns."""
        cdef Names of_channels = Names(channels), of_samples = Names(samples), of_modifiers = Names(modifiers), of_measurements = Names(measurements)
        cdef paritas_rename_options options
        cdef Document made = Document()
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        options.size = sizeof(options)
        options.channels, options.samples, options.modifiers, options.measurements = of_channels.c, of_samples.c, of_modifiers.c, of_measurements.c
        made.label = f"{self.label} (renamed)"
        with nogil:
            status = paritas_workspace_rename(context.c, self.c, &options, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    def combine(self, Document other not None, str join not None, bint merge_channels):
        """With another workspace."""
        cdef bytes wanted = join.encode()
        cdef const char *called = wanted
        cdef Document made = Document()
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        made.label = f"{self.label} (combined with {other.label})"
        with nogil:
            status = paritas_workspace_combine(context.c, self.c, other.c, called, merge_channels, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    def inspect(self):
        """What is in it, as a document."""
        cdef Document made = Document()
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        made.label = self.label
        with nogil:
            status = paritas_workspace_inspect(context.c, self.c, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    # ---- of a patch set ----

    def verify(self, Document workspace not None):
        """Checks the digests of this patch set against a workspace."""
        cdef Context context = HOST.take(None)
        cdef paritas_status status = paritas_patchset_verify(context.c, workspace.c, self.c)
        HOST.give(context)
        context.check(status)

    def patch_names(self):
        """Names of the patches of this patch set, in its order."""
        cdef size_t count = 0, i
        cdef const char *name = NULL
        cdef Context context = HOST.take(None)
        cdef list names = []
        cdef paritas_status status = paritas_patchset_count(context.c, self.c, &count)
        for i in range(count):
            if status == PARITAS_OK:
                status = paritas_patchset_name(context.c, self.c, i, &name)
            if status == PARITAS_OK:
                names.append(name.decode())
        HOST.give(context)
        context.check(status)
        return names

    def apply(self, Document workspace not None, str name not None):
        """The workspace with the patch of that name, after the digests were checked."""
        cdef Document made = Document()
        cdef bytes called = name.encode()
        cdef const char *at = called
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        made.label = f"{workspace.label}, patch {name}"
        with nogil:
            status = paritas_patchset_apply(context.c, workspace.c, self.c, at, &made.c)
        HOST.give(context)
        context.check(status)
        return made
