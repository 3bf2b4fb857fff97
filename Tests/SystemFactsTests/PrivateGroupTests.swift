import SystemFacts
import Testing

@Suite("A user's private group")
struct PrivateGroupTests {
  @Test(
    "It has his name, whatever its number, and no other member",
    arguments: [
      ("ann:x:7:", 7), ("ann:x:7:ann", 7), ("ann:x:7:ann,bob", nil), ("ann:x:7:bob", nil), ("users:x:7:", nil),
      ("", nil),
      ("ann:x:8:", nil),
    ] as [(String, UInt32?)])
  func members(line: String, number: UInt32?) {
    let passwd = ["root:x:0:0::/root:/bin/sh", "broken", "ann:x:1000:7:Ann:/home/ann:/bin/sh"]
    #expect(PrivateGroup.number(of: 1000, passwd: passwd, group: ["root:x:0:", "broken", line]) == number)
  }

  @Test("It is not another user's own")
  func shared() {
    let ann = "ann:x:1000:7::/:/bin/sh"
    func number(_ other: String) -> UInt32? {
      PrivateGroup.number(of: 1000, passwd: [ann, other], group: ["ann:x:7:"])
    }
    #expect(number("bob:x:1001:7::/:/bin/sh") == nil && number("bob:x:1001:8::/:/bin/sh") == 7)
    let two = PrivateGroup.number(of: 1000, passwd: [ann], group: ["ann:x:7:", "team:x:7:bob"])
    #expect(two == nil, "one number, and two groups")
    #expect(number("ann2:x:1000:7::/:/bin/sh") == 7, "another name of the same user")
  }

  @Test("One who is in no file has the group of his number")
  func directory() {
    func number(_ passwd: String, _ group: String) -> UInt32? {
      PrivateGroup.number(of: 1000, passwd: [passwd], group: [group])
    }
    #expect(number("", "users:x:1000:") == 1000 && number("", "") == 1000)
    #expect(number("", "developers:x:1000:mallory") == nil, "others are in it")
    #expect(number("bob:x:1001:1000::/:/bin/sh", "") == nil, "it is another user's")
  }
}
