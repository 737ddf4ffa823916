/** What a migration may not do, and how to do it instead. `always`: not even where it is declared as the contract half. */
export const MIGRATION_RULES = {
  'syntax-error': { always: true, how: 'correct the statement' },
  'transaction-control': { always: true, how: 'leave it out: every file is applied in a transaction of its own' },
  'session-setting': { always: true, how: 'leave it out: the platform sets roles and time limits' },
  'change-rights': { always: true, how: 'leave it out: the platform gives the rights of the plugin' },
  'outside-schema': { always: true, how: 'write names without a schema: the plugin has one of its own, which is the current one' },
  extension: { always: true, how: 'ask the platform for the extension' },
  'unjudged-code': { always: true, how: 'write plain statements: what a block of code does cannot be judged' },
  concurrently: { always: true, how: 'leave CONCURRENTLY out: it cannot be part of a transaction' },
  'drop-column': {
    how: 'stop using the column in this version, and drop it in the next, declared under spec.database.migrations.contract',
  },
  'drop-object': { how: 'stop using it in this version, and drop it in the next, declared under spec.database.migrations.contract' },
  'drop-constraint': { how: 'drop it in the next version, declared under spec.database.migrations.contract' },
  rename: { how: 'add the new name beside the old one and write both; drop the old one in the next version' },
  'set-schema': { how: 'make a copy at the new place and write both; drop the old one in the next version' },
  'change-type': { how: 'add a column of the new type beside the old one and write both; drop the old one in the next version' },
  'set-not-null': {
    how: 'fill the column in this version, and set NOT NULL in the next, declared under spec.database.migrations.contract',
  },
  'drop-not-null': { how: 'let this version read NULL, and drop NOT NULL in the next' },
  'drop-default': { how: 'let this version always write the column, and drop the default in the next' },
  'add-required-column': { how: 'give the column a DEFAULT, or make it nullable' },
  'add-unique': { how: 'write unique values in this version, and add it in the next, declared under spec.database.migrations.contract' },
  'add-check': { how: 'keep to it in this version, and add it in the next, declared under spec.database.migrations.contract' },
  'add-foreign-key': { how: 'keep to it in this version, and add it in the next, declared under spec.database.migrations.contract' },
  'row-security': { how: 'turn it on in the next version, declared under spec.database.migrations.contract' },
  'add-trigger': { how: 'do it in the plugin, or add the trigger in the next version' },
  'replace-object': { how: 'make it under a new name, and drop the old one in the next version' },
  'delete-rows': { how: 'delete them in the next version, declared under spec.database.migrations.contract' },
  'unknown-statement': { how: 'write it in other statements, or declare the file under spec.database.migrations.contract' },
} as const satisfies Record<string, { always?: boolean; how: string }>;

export type MigrationRule = keyof typeof MIGRATION_RULES;

export function isAlways(rule: MigrationRule): boolean {
  return 'always' in MIGRATION_RULES[rule];
}
