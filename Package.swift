// swift-tools-version: 6.2
import PackageDescription

// The house: docs/modules.md says what each module owns and what it may import. Tests/HouseTests compares that table
// with this manifest and with every import line in Sources.

/// Tests and CI set OAUTHCTL_STRICT: a warning in our own targets is then an error, one in a dependency is not.
let strict = Context.environment["OAUTHCTL_STRICT"] != nil

let settings: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    // A generic type is built with the conformances that the compiler knows. Looked up by its name, the runtime searches
    // each of them among all that are linked, which was a fifth of the agent's start.
    .unsafeFlags(
      ["-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"], .when(configuration: .release)),
  ] + (strict ? [.treatAllWarnings(as: .error)] : [])

/// `oauthctl` is started for every token: a fully static program starts in the time of a C one, and what a token needs of
/// it lies together (docs/performance.md).
let staticClient: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-static-executable", "-use-ld=lld", "-Xlinker", "--gc-sections", "-Xlinker", "-s",
      // CHeap's, where glibc is part of the program.
      "-Xlinker", "--wrap=free", "-Xlinker", "--wrap=realloc",
      // CStart's, where Swift's runtime is.
      "-Xlinker", "--wrap=swift_copyAuxiliaryExecutablePath", "-Xlinker", "--wrap=sysconf",
      "-Xlinker", "--symbol-ordering-file=\(Context.packageDirectory)/Packaging/hot-path.order",
    ],
    .when(configuration: .release))
]

/// A folder with a static libstdc++ and nothing else, where the Makefile has found one: a tenth of a start is binding the
/// shared one.
let staticLibraries = Context.environment["OAUTHCTL_STATIC"]

/// `oauthd` is bound whole at its start: lazy binding leaves copies of registers, and so of secrets, on thread stacks.
/// Swift's static link exports every symbol for nobody: that is 2 MB of it in memory. The helper is started for every
/// request, and had pieces of it on its stack.
let boundWhole: [LinkerSetting] = [
  .unsafeFlags(
    ["-Xlinker", "-z", "-Xlinker", "now", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-s"]
      + (staticLibraries.map { ["-L", $0] } ?? []),
    .when(configuration: .release))
]

/// For the agent, and what is started for every request: `text.contains(".local")` would link all regular expressions, half of
/// a small program and a twelfth of the agent's addresses.
let withoutRegex: [SwiftSetting] = [
  .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])
]

/// `more`: what only oauthctl and the development server link may have regular expressions.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], _ more: [SwiftSetting] = withoutRegex
) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings + more)
}

func program(
  _ name: String, _ dependencies: [Target.Dependency], _ more: [SwiftSetting] = [], linkerSettings: [LinkerSetting] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, swiftSettings: settings + more, linkerSettings: linkerSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
  .testTarget(name: name + "Tests", dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let heapModule: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let hummingbird: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")

let package = Package(
  name: "oauthctl",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "oauthd", targets: ["oauthd"]),
    .executable(name: "oauthd-fetch", targets: ["oauthd-fetch"]),
    .executable(name: "oauthd-redirect", targets: ["oauthd-redirect"]),
    .executable(name: "oauthctl", targets: ["oauthctl"]),
    .executable(name: "oauth-dev-server", targets: ["oauth-dev-server"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    // With its own BoringSSL: for https redirects on loopback, in oauthd-redirect alone.
    .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    // Without traits: its default one brings all of Foundation, and ICU with it.
    .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2", traits: []),
    // Without traits: they bring all of Foundation and a configuration library.
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0", traits: []),
  ],
  targets: [
    // System libraries and C shims
    .target(name: "CHeap"),
    .target(name: "CLinux"),
    .target(name: "CStart", cSettings: [.define("CSTART_STATIC", .when(configuration: .release))]),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    // toml++, headers alone.
    .target(name: "CTOML"),
    // Its functions are looked up in libcrypto when the first of them is called: the headers alone are needed to build it.
    .target(name: "CSigning"),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),

    // What several of the others read
    module("HTTPTerms"),
    module("JSONCoding"),
    module("OAuthTerms", ["HTTPTerms"]),
    module("SystemFacts", ["CLinux"]),

    // The client's side of the socket
    module("AgentWire", ["JSONCoding", "SystemFacts"]),
    module("AgentClient", ["AgentWire", "CLinux", "SystemFacts"]),
    module("HelperFormats", ["HTTPTerms"], []),

    // The agent
    module("Sealing", ["CSodium"]),
    module("Signing", ["CSigning", "OAuthTerms", "Sealing"]),
    module("FetchWire"),
    module("OAuthProtocol", ["HTTPTerms", "JSONCoding", "OAuthTerms", "Sealing"]),
    // `.embedInCode`: oauthd needs no file beside it, and nobody can change one.
    .target(name: "Providers", resources: [.embedInCode("Presets")], swiftSettings: settings),
    module("TokenVault", ["Sealing", "SystemFacts", "CSQLite", "CLinux"]),
    module(
      "AgentCore",
      [
        "AgentWire", "HTTPTerms", "JSONCoding", "OAuthProtocol", "OAuthTerms", "TokenVault", "Sealing", "Signing",
        "SystemFacts", heapModule, logging,
      ]),
    module(
      "AgentRuntime",
      [
        "AgentCore", "AgentWire", "HTTPTerms", "OAuthProtocol", "OAuthTerms", "Providers", "TokenVault", "Sealing",
        "SystemFacts", "FetchWire", "CLinux", "CTOML", logging,
      ]),

    // Development and tests
    module("DevAuthorizationServer", ["HTTPTerms", "OAuthProtocol", "Sealing"], []),
    module(
      "AgentTestSupport",
      ["AgentCore", "AgentWire", "OAuthProtocol", "TokenVault", "Sealing", "DevAuthorizationServer"]),

    // Programs
    program("oauthd", ["AgentRuntime", "CHeap"], withoutRegex, linkerSettings: boundWhole),
    program(
      "oauthd-fetch", ["FetchWire", "SystemFacts", "CCurl", "CHeap", "CLinux"], withoutRegex, linkerSettings: boundWhole
    ),
    program(
      "oauthd-redirect", ["FetchWire", "CHeap", "CLinux", nioCore, nioPosix, nioHTTP1, nioSSL], withoutRegex,
      linkerSettings: boundWhole),
    program(
      "oauthctl",
      [
        "AgentClient", "AgentWire", "HTTPTerms", "HelperFormats", "OAuthTerms", "SystemFacts", "CHeap", "CLinux",
        "CSodium", "CStart", argumentParser,
      ],
      linkerSettings: staticClient),
    program(
      "oauth-dev-server",
      [
        "DevAuthorizationServer", "OAuthProtocol", argumentParser, hummingbird, httpTypes, nioCore, nioPosix, logging,
        subprocess,
      ]),

    tests("Sealing", ["Sealing"]),
    tests("Signing", ["OAuthProtocol", "OAuthTerms", "Sealing", "Signing"]),
    tests("FetchWire", ["FetchWire"]),
    tests("JSONCoding", ["JSONCoding"]),
    tests("AgentWire", ["AgentWire", "JSONCoding"], exclude: ["Vectors"]),
    tests("AgentClient", ["AgentClient", "AgentWire"]),
    tests("HTTPTerms", ["HTTPTerms"]),
    tests("SystemFacts", ["SystemFacts"]),
    tests("HelperFormats", ["HTTPTerms", "HelperFormats"], exclude: ["Vectors"]),
    tests("OAuthProtocol", ["HTTPTerms", "OAuthProtocol", "OAuthTerms", "Sealing"]),
    tests("TokenVault", ["TokenVault", "AgentTestSupport", "Sealing"], exclude: ["Vectors"]),
    tests(
      "AgentCore",
      [
        "AgentCore", "AgentTestSupport", "AgentWire", "HTTPTerms", "JSONCoding", "OAuthProtocol", "OAuthTerms",
        "TokenVault", "Sealing",
      ], exclude: ["Vectors"]),
    tests(
      "AgentRuntime",
      [
        "AgentRuntime", "AgentCore", "AgentTestSupport", "AgentWire", "HTTPTerms", "OAuthProtocol", "OAuthTerms",
        "Providers", "Sealing", "SystemFacts", "FetchWire", "CLinux",
        nioCore, nioPosix, logging,
      ]),
    tests("DevAuthorizationServer", ["DevAuthorizationServer", "OAuthProtocol", "Sealing"]),
    tests("OauthdFetch", ["oauthd-fetch", "CCurl", "HTTPTerms"]),
    tests("OauthdRedirect", ["oauthd-redirect", "FetchWire", nioCore, nioPosix, nioEmbedded]),
    tests(
      "Oauthctl", ["oauthctl", "AgentClient", "AgentWire", "HTTPTerms", "HelperFormats", "OAuthTerms", argumentParser]),
    tests("House"),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
