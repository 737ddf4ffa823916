// What V8 made of the programs is kept for the next start, where Node can do that (22.1 and newer); Node 20 goes without.
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

try {
  // In the user's own folder: what another user could write is not to be run.
  module.enableCompileCache?.(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tenantry', 'compiled'));
} catch {
  // Without a home there is no cache.
}
