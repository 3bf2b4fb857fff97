// AgentRuntime
