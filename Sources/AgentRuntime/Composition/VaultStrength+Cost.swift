import AgentWire
import Sealing

extension VaultStrength {
  var cost: PasswordHash.Cost {
    switch self {
    case .interactive: .interactive
    case .moderate: .moderate
    case .sensitive: .sensitive
    }
  }
}
