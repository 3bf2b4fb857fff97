import HelperFormats
import Testing

@Suite("Files that curl opens")
struct CurlFilesTests {
  @Test(
    "Standard input that curl reads is noticed",
    arguments: [
      (["-d", "@-"], true), (["--data-binary", "@-"], true), (["--json", "@-"], true), (["-T", "-"], true),
      (["-F", "x=@-"], true), (["-F", "x=<-;type=a"], true), (["--data-urlencode", "n@-"], true), (["-d", "-"], false),
      (["-d", "@file"], false), (["--data-raw", "@-"], false), (["-T", "file"], false), (["-H", "@-"], true),
      (["--url-query", "id@-"], true), (["--url-query", "id=@-"], false), (["-F", "x=@\"-\""], true),
      (["-F", "x=@a,-"], true), (["-F", "x=@ -"], true), (["-F", "x=@- ;type=a"], true), (["-F", "x=< - , a"], true),
      (["-F", "x=y;headers=@-"], true), (["-F", "x=@a; headers=<-"], true), (["-F", "x=y;headers=-"], false),
    ])
  func input(words: [String], reads: Bool) throws {
    #expect(try CurlArguments(words).readsStandardInput == reads)
  }

  @Test(
    "Files that curl opens by name are known",
    arguments: [
      (["-d", "@a", "--json", "@b"], ["a", "b"]), (["--data-urlencode", "n@a", "--url-query", "@b"], ["a", "b"]),
      (["-F", "x=@a;type=b,\"c\"", "-F", "y=<d", "-F", "z=text"], ["a", "c", "d"]),
      (["-T", "{a,b}"], ["{a,b}", "a", "b"]),
      (["--cacert", "a", "-E", "b:passphrase", "--key", "c"], ["a", "b:passphrase", "b", "c"]),
      (["-d", "a", "--data-urlencode", "n=@a", "--data-raw", "@a"], []), (["-b", "a", "-w", "@b"], ["a", "b"]),
    ])
  func filesRead(words: [String], files: [String]) throws { #expect(try CurlArguments(words).filesRead == files) }

  @Test("Files that curl writes are known, with their folder")
  func filesWritten() throws {
    #expect(try CurlArguments(["-o", "a", "--output-dir", "b", "-c", "d"]).filesWritten == ["b/a", "a", "d"])
    #expect(try CurlArguments(["-D", "a", "-O"]).filesWritten == ["a"])
    let url = "https://h/a/b.c?d=/e#/f"
    #expect(try CurlArguments(["-O", url]).filesWritten == ["b.c"])
    #expect(try CurlArguments(["--remote-name-all", "--output-dir", "g", url]).filesWritten == ["g/b.c", "b.c"])
    #expect(try CurlArguments(["-O", "https://h/a\\d.e"]).filesWritten == ["d.e"], "as curl has it")
  }
}
