/// What the curl that has the token gets of the environment: nothing that has it, or a library of it, write down what it sends,
/// and code from no other place than programs come from. Who sets the whole environment can do more, and is not kept out.
enum CurlEnvironment {
  private enum Rule {
    /// It is left out.
    case never
    /// A file is left out that anybody else may write to, or that is named by a relative path.
    case file
    /// So is each such file of a list, each name without a slash (it may be a link to anything, in whatever folder it is
    /// found), and each with a `$`: ld.so(8) puts a folder in the place of `$ORIGIN`, `$LIB` and `$PLATFORM`.
    case libraries
  }

  private static let rules: [String: Rule] = [
    // The keys of the TLS connection, in a file that others may read (libcurl, every TLS library).
    "SSLKEYLOGFILE": .never,
    // What goes over QUIC, headers included (libcurl).
    "QLOGDIR": .never,
    // What a debug build of libcurl does, and the memory that it takes.
    "CURL_DEBUG": .never, "CURL_MEMDEBUG": .never,
    // Keys and records of a connection: GnuTLS, NSS.
    "GNUTLS_DEBUG_LEVEL": .never, "SSLTRACE": .never, "SSLDEBUG": .never, "SSLDEBUGFILE": .never,
    // Folders of libraries: in the place of the system's (ld.so(8)), of glibc's iconv(3), of OpenSSL. A folder that is the
    // user's alone may have a link in it to what is not, by whatever name, and in folders below. No curl that is installed
    // needs one.
    "LD_LIBRARY_PATH": .never, "GCONV_PATH": .never, "OPENSSL_CONF_INCLUDE": .never,
    "OPENSSL_ENGINES": .never, "OPENSSL_MODULES": .never,
    // Libraries beside the system's.
    "LD_PRELOAD": .libraries, "LD_AUDIT": .libraries,
    // Name libraries to load (GSS-API, Kerberos, OpenSSL and its PKCS #11).
    "GSS_MECH_CONFIG": .file, "KRB5_CONFIG": .file, "OPENSSL_CONF": .file, "PKCS11_MODULE_PATH": .file,
    "PKCS11_PROVIDER_MODULE": .file,
  ]

  /// What curl gets of a variable; nil: nothing.
  static func passed(_ name: String, _ value: String, _ lookup: ProgramLookup) -> String? {
    guard let rule = rules[name] else { return value }
    // Bytes that are no text, which would be handed on, are not what is looked at here.
    guard !value.unicodeScalars.contains("\u{FFFD}") else { return nil }
    switch rule {
    case .never: return nil
    // No settings at all: its mode lets everybody write.
    case .file: return value == "/dev/null" ? value : lookup.trustedFile(value)
    case .libraries:
      // Of bytes, as ld.so(8) reads it, and what a link leads to as well.
      let kept = value.utf8.split { ": ".utf8.contains($0) }.compactMap { entry -> String? in
        guard entry.contains(UInt8(ascii: "/")), !entry.contains(UInt8(ascii: "$")),
          let place = lookup.trustedFile(String(decoding: entry, as: UTF8.self))
        else { return nil }
        return place.utf8.contains { "$: ".utf8.contains($0) } ? nil : place
      }
      return kept.isEmpty ? nil : kept.joined(separator: ":")
    }
  }
}
