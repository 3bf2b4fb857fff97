// AgentWire
