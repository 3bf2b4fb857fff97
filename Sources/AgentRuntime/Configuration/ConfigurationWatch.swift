import Glibc
package import NIOCore
import NIOPosix

/// Sees when somebody changed the configuration files (inotify(7)).
///
/// The folders may come and go; each reading arms it anew, before it reads, so that no change falls between the two.
package final class ConfigurationWatch: Sendable {
  /// Editors and programs write in several steps: so long nothing may happen before the files are read again.
  package static let calm = TimeAmount.milliseconds(200)

  let descriptor: Int32
  private let paths: [String]

  /// Nil when the system has no more of them for this user.
  package init?(folder: ConfigurationFolder) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0 else { return nil }
    paths = [folder.path, folder.accountsFolder]
    arm()
  }

  deinit { close(descriptor) }

  /// Looks at the folders that are there now. What was looked at already stays so.
  func arm() {
    let changes = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ONLYDIR
    for path in paths where inotify_add_watch(descriptor, path, UInt32(changes)) < 0 {
      // Until it is made: what comes into the folder above it.
      guard let slash = path.lastIndex(of: "/") else { continue }
      let arrivals = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR
      // It may be a folder that is looked at for more than that.
      _ = inotify_add_watch(descriptor, String(path[..<slash]), UInt32(arrivals | IN_MASK_ADD))
    }
  }

  /// Calls `changed` on `loop` whenever the files changed and are calm again, until the channel closes. Nil when it
  /// cannot be listened to.
  package func listen(
    on loop: any EventLoop, _ changed: @escaping @Sendable () -> Void
  ) async -> (any Channel)? {
    let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard own >= 0 else { return nil }
    do {
      return try await NIOPipeBootstrap(group: loop)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Calming(watch: self, changed: changed))
          }
        }
        .takingOwnershipOfDescriptor(input: own).get()
    } catch {
      close(own)
      return nil
    }
  }

  /// Waits until it is calm.
  private final class Calming: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let watch: ConfigurationWatch
    private let changed: @Sendable () -> Void
    private var timer: Scheduled<Void>?

    init(watch: ConfigurationWatch, changed: @escaping @Sendable () -> Void) {
      self.watch = watch
      self.changed = changed
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      // A folder may be new: files that come into it have to be seen as well.
      watch.arm()
      timer?.cancel()
      timer = context.eventLoop.scheduleTask(in: ConfigurationWatch.calm, changed)
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }
  }
}
