# A formula for Homebrew: the program, the library, the headers.
class Paritas < Formula
  desc "@SUMMARY@"
  homepage "@HOME@"
  url "@URL@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "cmake" => :build
  uses_from_macos "sqlite"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-DPARITAS_TESTS=OFF", "-DPARITAS_VARIANTS=all", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pkgshare.install "examples"
  end

  test do
    workspace = pkgshare/"examples/two_bins.json"
    assert_match "paritas #{version}", shell_output("#{bin}/paritas --version")
    assert_match "1.01157", shell_output("#{bin}/paritas limit #{workspace}")
    system ENV.cc, pkgshare/"examples/c/fits.c", "-I#{include}", "-L#{lib}", "-lparitas", "-lm", "-o", "fits"
    system "./fits", workspace
  end
end
