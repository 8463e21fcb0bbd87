# A recipe for Spack: the program, the library, the headers.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Paritas(CMakePackage):
    """@SUMMARY@."""

    homepage = "@HOME@"
    url = "@URL@"

    license("Apache-2.0", checked_by="paritas")

    version("@VERSION@", sha256="@SHA256@")

    depends_on("c", type="build")
    depends_on("cmake@@CMAKE@:", type="build")
    depends_on("sqlite")
    depends_on("zlib-api")

    def cmake_args(self):
        return [self.define("PARITAS_TESTS", False)]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def fits(self):
        """The installed program fits."""
        program = Executable(join_path(self.prefix.bin, "paritas"))
        program("fit", join_path(self.stage.source_path, "examples", "two_bins.json"))
