# Workspaces and patch sets: JSON documents as the library reads them.

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
