// FetchWire
