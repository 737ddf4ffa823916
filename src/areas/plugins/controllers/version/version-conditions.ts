/** The conditions of a PluginVersion, in the order in which they come true. */
export const VersionCondition = {
  ManifestValid: 'ManifestValid',
  PublisherKnown: 'PublisherKnown',
  ImageResolved: 'ImageResolved',
  SignatureVerified: 'SignatureVerified',
  UserAccepted: 'UserAccepted',
  /** Not steps: what else the publisher said of the image. Nothing waits for them. */
  SbomAttached: 'SBOMAttached',
  ProvenanceAttached: 'ProvenanceAttached',
} as const;
