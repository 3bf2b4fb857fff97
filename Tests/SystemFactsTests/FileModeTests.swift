import Testing

@testable import SystemFacts

@Suite("The rights of a mode")
struct FileModeTests {
  @Test(
    "Three digits, and the rights alone",
    arguments: [
      (0o100000, "000"), (0o100007, "007"), (0o100044, "044"), (0o104755, "755"), (0o041777, "777"), (0, "000"),
      (.max, "777"),
    ] as [(UInt32, String)])
  func digits(mode: UInt32, text: String) {
    #expect(FileMode.digits(mode) == text)
  }
}
