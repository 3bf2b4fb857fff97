import AgentWire
import Testing

@testable import AgentCore

@Suite("The circuit: a server that cannot be reached is asked by one account")
struct ServerCircuitTests {
  private func failed(_ accounts: Int, at now: Double = 100) -> ServerCircuit {
    var circuit = ServerCircuit()
    for number in 0..<accounts { circuit.didFail("a\(number)", "no route", at: now, spread: 0.5) }
    return circuit
  }

  @Test("five accounts in a row open it, four do not, and one account alone never does")
  func opens() {
    #expect(failed(4).hold(for: "b") == nil)
    #expect(failed(5).hold(for: "b") == .until(planned: 101, asked: 101, reason: "no route"))
    var circuit = ServerCircuit()
    for _ in 0..<50 { circuit.didFail("a", "no route", at: 0, spread: 0.5) }
    #expect(!circuit.isOpen)
  }

  @Test("an answer in between begins the count anew, and an answer closes it")
  func answers() {
    var circuit = failed(4)
    circuit.didAnswer()
    circuit.didFail("a9", "no route", at: 0, spread: 0.5)
    #expect(!circuit.isOpen)
    var open = failed(5)
    open.didAnswer()
    #expect(open.hold(for: "b") == nil)
  }

  @Test("one account asks; the others hear how it ended, and it may go on itself")
  func probe() {
    var circuit = failed(5)
    circuit.began("a1")
    circuit.began("b")
    #expect(circuit.hold(for: "b") == .probing)
    #expect(circuit.hold(for: "a1") == nil)
    circuit.gaveUp("b")
    #expect(circuit.hold(for: "c") == .probing, "it was not b's to give up")
    circuit.gaveUp("a1")
    circuit.began("b")
    #expect(circuit.probe == "b")
  }

  @Test("each failed try doubles the wait, up to five minutes; somebody who asks waits five seconds at most")
  func backsOff() {
    var circuit = failed(5)
    var now = 100.0
    for round in 1..<12 {
      circuit.began("a1")
      circuit.didFail("a1", "no route", at: now, spread: 0.5)
      let wait = min(Double(1 << round), 300)
      #expect(circuit.hold(for: "b") == .until(planned: now + wait, asked: now + min(wait, 5), reason: "no route"))
      now += wait
    }
  }

  @Test("what was under way when it opened makes nobody wait longer")
  func latecomers() {
    var circuit = failed(5)
    let hold = circuit.hold
    for number in 10..<20 { circuit.didFail("a\(number)", "no route", at: 100, spread: 0.5) }
    #expect(circuit.hold == hold)
  }
}

@Suite("The account at a server that cannot be reached")
struct HeldAccountTests {
  private func until(_ seconds: Double, asked: Double = 0) -> ServerHold {
    .until(planned: 10_000 + seconds, asked: 10_000 + asked, reason: "login.example.com: no route")
  }

  @Test("who asks is told at once, and a token that is still valid is served")
  func asks() {
    let driver = MachineDriver(.expired())
    driver.holds(until(60, asked: 4))
    let failure = driver.failureWhole(driver.ask())
    #expect(failure?.kind == .unavailable)
    #expect(failure?.retryAfterMilliseconds == 4_000)
    #expect(failure?.message.contains("no route") == true)
    #expect(driver.log == ["refuse"], "nothing is written and nothing sent")
    let living = MachineDriver(.loggedIn(age: 3_595))
    living.holds(until(60, asked: 4))
    #expect(living.token(living.ask()) == "a1")
  }

  @Test("somebody who asks after that time makes the try")
  func tries() {
    let driver = MachineDriver(.expired())
    driver.holds(until(60, asked: -1))
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
  }

  @Test("the plan waits for the plan's time")
  func plan() {
    let driver = MachineDriver(.loggedIn(age: 3_000, asked: true))
    driver.holds(until(60))
    #expect(driver.machine.wake(at: driver.now) == nil, "its server's own deadline wakes it")
    driver.wakes()
    #expect(driver.sent.isEmpty && driver.log.isEmpty)
    driver.pass(60)
    driver.wakes()
    driver.saved()
    #expect(driver.sent.count == 1)
  }

  @Test("while another account tries, who asks waits for how that ends")
  func waits() {
    let driver = MachineDriver(.expired())
    driver.holds(.probing)
    let id = driver.ask()
    driver.wakes()
    #expect(driver.isWaiting(id) && driver.log.isEmpty)
    #expect(driver.machine.wake(at: driver.now) == nil)
    driver.holds(until(60, asked: 4))
    driver.wakes()
    #expect(driver.failure(id) == .unavailable)
    let lucky = driver.machine
    driver.machine = lucky
    driver.holds(.probing)
    let other = driver.ask()
    driver.holds(nil)
    driver.wakes()
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(other) == "a2")
  }

  @Test("its own back-off ends when the server answers somebody, but not one that an answer began")
  func serverIsBack() {
    let driver = MachineDriver(.loggedIn(age: 3_000, asked: true))
    driver.wakes()
    driver.saved()
    for _ in 0..<4 {
      driver.endsDurably(.notSent("no route"))
      driver.sleepAndWake()
      driver.saved()
    }
    driver.endsDurably(.notSent("no route"))
    driver.serverAnswers()
    driver.wakes()
    driver.saved()
    #expect(driver.sent.count == 6)
    driver.endsDurably(.serverError)
    driver.serverAnswers()
    driver.wakes()
    #expect(driver.sent.count == 6 && driver.saving == nil)
  }

  @Test("status says that it is retried, and when")
  func status() {
    let driver = MachineDriver(.expired())
    driver.holds(until(60))
    #expect(driver.machine.state(at: driver.now).state == .retrying)
    #expect(driver.machine.retryAfterMilliseconds(at: driver.now) == 60_000)
  }
}
