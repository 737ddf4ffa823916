import type { KeyObject } from 'node:crypto';
import type { Client } from '../../../client/client.ts';
import { SubjectAccessReview, TokenReview } from '../../../client/kinds.ts';
import { PLATFORM_NAMESPACE, TOKEN_JWKS } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Clock } from '../../../lib/clock.ts';
import { errorText } from '../../../lib/log.ts';
import { keysOf, TokenRefused, verifyPluginToken, type PluginIdentity } from '../identity/verify-plugin-token.ts';
import { Refusal } from './model/refusal.ts';
import { Questions } from './questions.ts';
import { RecentAnswers } from './recent-answers.ts';
import type { RouteTable } from './route-table.ts';
import { TokenReviews, type User } from './token-reviews.ts';

export type Caller = { type: 'plugin'; name: string; identity: PluginIdentity } | User;

/** What the API server said about a right is believed for so long; tokens of plugins are judged anew for every request. */
const BELIEVED_MS = 10_000;
const GROUP = 'plugins.tenantry.dev';
/** As Kubernetes names what a request to a proxy does. */
const VERBS: Record<string, string> = {
  GET: 'get',
  HEAD: 'get',
  OPTIONS: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Who calls, and whether they may: plugins by their tokens, everybody else as the API server knows them. */
export class Callers {
  readonly #client: Client;
  readonly #table: RouteTable;
  readonly #clock: Clock;
  #keys: { from: string; keys: Map<string, KeyObject> } = { from: '', keys: new Map() };
  readonly #questions = new Questions();
  readonly #tokens: TokenReviews;
  readonly #rights: RecentAnswers<boolean>;

  constructor(client: Client, table: RouteTable, clock: Clock) {
    this.#client = client;
    this.#table = table;
    this.#clock = clock;
    this.#tokens = new TokenReviews((token) => this.#review(token), clock);
    this.#rights = new RecentAnswers(clock, BELIEVED_MS);
  }

  /** @throws Refusal */
  async identify(authorization: string | undefined, address: string): Promise<Caller> {
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    if (token === undefined)
      throw new Refusal('UNAUTHENTICATED', 'Cannot let this request in: it has no token; send Authorization: Bearer');
    const identity = this.#plugin(token);
    if (identity) return { type: 'plugin', name: `plugin:${identity.publisher}.${identity.plugin}`, identity };
    const user = await this.#tokens.userOf(token, address);
    if (!user) throw new Refusal('UNAUTHENTICATED', 'Cannot let this request in: nobody knows its token; get a new one');
    return user;
  }

  /** A plugin reaches plugins of its own tenant, with the permission that both its token and its version of now have. @throws Refusal */
  async authorize(caller: Caller, { method, tenant, plugin }: { method: string; tenant: string; plugin: string }): Promise<void> {
    if (caller.type === 'user') {
      const verb = VERBS[method];
      if (verb === undefined) throw new Refusal('FORBIDDEN', `Cannot let ${method} in: there is no right for it; use another method`);
      // Rights are for objects: the installation may have another name than its plugin.
      const name = this.#table.find(tenant, plugin)?.metadata.name ?? plugin;
      const key = JSON.stringify([caller.name, caller.groups, tenant, name, verb]);
      if (await this.#rights.get(key, () => this.#mayProxy(caller, tenant, name, verb))) return;
      const message = `Cannot let "${caller.name}" in: it may not ${verb} plugininstallations/proxy in ${tenant}; ask an owner of the tenant`;
      throw new Refusal('FORBIDDEN', message);
    }
    const { identity } = caller;
    if (identity.tenant !== tenant) {
      const message = `Cannot let ${identity.subject} in: it belongs to another tenant; plugins reach those of their own only`;
      throw new Refusal('CROSS_TENANT', message, undefined, identity);
    }
    if (identity.plugin === plugin) return;
    const needed = ['GET', 'HEAD', 'OPTIONS'].includes(method) ? 'plugin.read' : 'plugin.write';
    const sealed = this.#table.find(tenant, identity.plugin)?.status?.gateway?.permissions ?? [];
    if (identity.permissions.includes(needed) && sealed.includes(needed)) return;
    throw new Refusal('ADAP-SEC-0010', `Cannot let ${identity.subject} in: it has no permission ${needed}; declare it in spec.permissions`);
  }

  #plugin(token: string): PluginIdentity | undefined {
    try {
      return verifyPluginToken(token, {
        keys: () => this.#published(),
        installation: (tenant, plugin) => this.#table.find(tenant, plugin),
        isSuspended: (installation) => this.#table.isSuspended(installation),
        now: () => this.#clock.now(),
      });
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      throw new Refusal('UNAUTHENTICATED', `Cannot let this plugin in: ${error.message} (${error.reason}); read its token file again`);
    }
  }

  #published(): Map<string, KeyObject> {
    const from = (this.#table.jwks.find(PLATFORM_NAMESPACE, TOKEN_JWKS)?.data?.['jwks.json'] as string | undefined) ?? '{}';
    if (this.#keys.from !== from) this.#keys = { from, keys: keysOf(from) };
    return this.#keys.keys;
  }

  async #review(token: string): Promise<User | undefined> {
    const { status } = await this.#ask(() => this.#client.resource(TokenReview).create({ metadata: {}, spec: { token } }));
    if (status?.authenticated !== true || !status.user?.username) return undefined;
    return { type: 'user', name: status.user.username, groups: status.user.groups ?? [], uid: status.user.uid };
  }

  async #mayProxy(user: User, namespace: string, name: string, verb: string): Promise<boolean> {
    const resourceAttributes = { group: GROUP, resource: 'plugininstallations', subresource: 'proxy', namespace, name, verb };
    const spec = { user: user.name, groups: user.groups, uid: user.uid, resourceAttributes };
    const { status } = await this.#ask(() => this.#client.resource(SubjectAccessReview).create({ metadata: {}, spec }));
    return status?.allowed === true;
  }

  /** Nobody gets in while it cannot be found out who they are. */
  async #ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await this.#questions.ask(question);
    } catch (error) {
      throw new Refusal('ADAP-SEC-0011', `Cannot find out who calls: ${errorText(error)}; try again`, 1_000);
    }
  }
}
