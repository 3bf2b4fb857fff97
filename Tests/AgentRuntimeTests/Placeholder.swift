// AgentRuntimeTests
