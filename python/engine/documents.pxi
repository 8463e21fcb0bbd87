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
    def read(path, str mass=None, masks=(), maps=(), bint exact=False):
        """From a file ("-": standard input): JSON, or a datacard."""
        cdef Document made = Document.labelled(text_of(path))
        cdef Names of_masks = Names(masks), of_maps = Names(maps)
        cdef paritas_datacard_options options = paritas_datacard_options_default
        options.masks, options.maps, options.exact = of_masks.c, of_maps.c, exact
        if mass is not None:
            options.mass = PyUnicode_AsUTF8(mass)
        paritas_document_read(PyUnicode_AsUTF8(made.label), &options, &made.c)
        return made

    @staticmethod
    def parse(bytes text, str label="document"):
        """From JSON text; `label` names it in messages."""
        cdef Document made = Document.labelled(label)
        paritas_workspace_parse(text, len(text), PyUnicode_AsUTF8(label), &made.c)
        return made

    def __reduce__(self):
        return Document.parse, (self.text().encode(), self.label)

    def __copy__(self):
        return self # immutable

    def __deepcopy__(self, memo):
        return self

    def patch(self, Document patch not None):
        """A copy with a JSON Patch (RFC 6902) applied."""
        cdef Document made = Document.labelled(self.label)
        paritas_workspace_patch(self.c, patch.c, &made.c)
        return made

    def digest(self):
        """pyhf's digest: "sha256:" and 64 digits."""
        cdef char text[72]
        paritas_workspace_digest(self.c, text)
        return text.decode()

    def text(self, unsigned indent=0):
        """As JSON."""
        cdef char *text = NULL
        cdef size_t length = 0
        cdef Context call = begin(None, None)
        call.status = in_c_paritas_workspace_write(call.c, self.c, indent, &text, &length)
        cdef str written = text[:length].decode()
        paritas_text_free(call.c, text)
        call.end()
        return written

    # ---- workspaces ----

    def sort(self):
        """Channels, samples, modifiers, measurements, parameters and observations by name."""
        cdef Document made = Document.labelled(f"{self.label} (sorted)")
        paritas_workspace_sort(self.c, &made.c)
        return made

    def prune(self, channels, samples, modifiers, modifier_types, measurements):
        """Without these names."""
        cdef Names of_channels = Names(channels), of_samples = Names(samples), of_modifiers = Names(modifiers)
        cdef Names of_types = Names(modifier_types), of_measurements = Names(measurements)
        cdef paritas_prune_options options = paritas_prune_options_default
        cdef Document made = Document.labelled(f"{self.label} (pruned)")
        options.channels, options.samples, options.modifiers = of_channels.c, of_samples.c, of_modifiers.c
        options.modifier_types, options.measurements = of_types.c, of_measurements.c
        paritas_workspace_prune(self.c, &options, &made.c)
        return made

    def mask(self, channels):
        """With channels that models leave out of the likelihood."""
        cdef Names of_channels = Names(channels)
        cdef Document made = Document.labelled(f"{self.label} (masked)")
        paritas_workspace_mask(self.c, &of_channels.c, &made.c)
        return made

    def split(self, str parameter, str measurement, groups):
        """A parameter for each group of channels. groups: names and patterns alternate."""
        cdef Names of_groups = Names(groups)
        cdef paritas_split_options options = paritas_split_options_default
        cdef Document made = Document.labelled(f"{self.label} (split)")
        options.groups = of_groups.c
        if parameter is not None:
            options.parameter = PyUnicode_AsUTF8(parameter)
        if measurement is not None:
            options.measurement = PyUnicode_AsUTF8(measurement)
        paritas_workspace_split(self.c, &options, &made.c)
        return made

    def simplified(self, str form not None):
        """The workspace of these moments."""
        cdef int code = value_of("paritas_simplified", form, "form")
        cdef Document made = Document.labelled(f"{self.label} (simplified)")
        paritas_simplified_workspace(self.c, <paritas_simplified>code, &made.c)
        return made

    def rename(self, channels, samples, modifiers, measurements):
        """Old and new names alternate."""
        cdef Names of_channels = Names(channels), of_samples = Names(samples)
        cdef Names of_modifiers = Names(modifiers), of_measurements = Names(measurements)
        cdef paritas_rename_options options = paritas_rename_options_default
        cdef Document made = Document.labelled(f"{self.label} (renamed)")
        options.channels, options.samples = of_channels.c, of_samples.c
        options.modifiers, options.measurements = of_modifiers.c, of_measurements.c
        paritas_workspace_rename(self.c, &options, &made.c)
        return made

    def combine(self, Document other not None, str join not None, bint merge_channels):
        """With another workspace."""
        cdef Document made = Document.labelled(f"{self.label} (combined with {other.label})")
        paritas_workspace_combine(self.c, other.c, PyUnicode_AsUTF8(join), merge_channels, &made.c)
        return made

    def inspect(self):
        """Its contents, as a document."""
        cdef Document made = Document.labelled(self.label)
        paritas_workspace_inspect(self.c, &made.c)
        return made

    def card_names(self):
        """Names of a datacard's parameters that are others here, as a document."""
        cdef Document made = Document.labelled(self.label)
        paritas_datacard_names(self.c, &made.c)
        return made

    @staticmethod
    def card_groups(path):
        """Groups of a datacard's nuisances, as a document."""
        cdef Document made = Document.labelled(text_of(path))
        paritas_datacard_groups(PyUnicode_AsUTF8(made.label), &made.c)
        return made

    # ---- patch sets ----

    def verify(self, Document workspace not None):
        """Checks its digests against a workspace."""
        paritas_patchset_verify(workspace.c, self.c)

    def patch_names(self):
        """Names of the patches, in order."""
        cdef size_t count = 0, i
        paritas_patchset_count(self.c, &count)
        cdef const char **names = <const char **>calloc(count + 1, sizeof(const char *))
        if names == NULL:
            raise MemoryError
        try:
            paritas_patchset_names(self.c, count, names)
            return [names[i].decode() for i in range(count)]
        finally:
            free(names)

    def patch_order(self):
        """Names of the patches along a scan, and whether they are sorted by the only number of each."""
        cdef list names = self.patch_names()
        cdef object order = np.empty(len(names) + 1, dtype=np.uintp)
        cdef int ordered = 0
        paritas_patchset_order(self.c, len(names), <size_t *>address(order), &ordered)
        return [names[i] for i in order[:len(names)]], bool(ordered)

    def apply(self, Document workspace not None, str name not None):
        """The workspace with the named patch, after a check of digests."""
        cdef Document made = Document.labelled(f"{workspace.label}, patch {name}")
        paritas_patchset_apply(workspace.c, self.c, PyUnicode_AsUTF8(name), &made.c)
        return made
