/** Why a PluginVersion is not verified: reasons of its conditions and Events. */
export const VersionReason = {
  ManifestInvalid: 'ManifestInvalid',
  PublisherUnknown: 'PublisherUnknown',
  RepositoryNotAllowed: 'RepositoryNotAllowed',
  /** It wants to reach private addresses that its publisher may not. */
  EgressNotAllowed: 'EgressNotAllowed',
  /** The registry cannot be asked, or does not have the image. */
  ImageUnavailable: 'ImageUnavailable',
  NotSigned: 'NotSigned',
  SignatureInvalid: 'SignatureInvalid',
  KeyRevoked: 'KeyRevoked',
  /** Not yet, or no longer. */
  KeyNotValid: 'KeyNotValid',
  NoUsableKey: 'NoUsableKey',
  RunsAsRoot: 'RunsAsRoot',
  ImageInvalid: 'ImageInvalid',
  /** Of the Events that tell transitions. */
  Signed: 'Signed',
  Verified: 'Verified',
  Revoked: 'Revoked',
} as const;
