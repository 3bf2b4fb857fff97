/// Which secrets are kept for an account, by the numbers of the changes that set them, or took them out: another secret has another
/// number.
package struct SecretOrders: Sendable, Equatable {
  package let clientSecret: UInt64?
  package let password: UInt64?

  package init(_ record: AccountRecord?) {
    (clientSecret, password) = (record?.clientSecretOrder, record?.passwordOrder)
  }
}
