// AgentClient
