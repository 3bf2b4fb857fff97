// FetchWireTests
