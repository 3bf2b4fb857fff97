/// Bytes are compared as bytes: comparing characters loads the tables of Unicode, which costs more than all the rest of a
/// short program's way.
@inlinable package func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

@inlinable package func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }

@inlinable package func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

/// A to Z as a to z, every other byte as it is.
@inlinable package func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
