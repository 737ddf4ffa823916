import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type } from '../e2e/command.ts';
import { makeCertificates } from './certificates.ts';
import { nodeTools, toolPath } from './node-tools.ts';

/** The Maven project that pins Kafka. Tests run from the root of the checkout. */
const PROJECT = 'test/cluster/kafka/pom.xml';
const VERSION = '4.1.0';
const START_MS = 120_000;

export const KAFKA_ADMIN = { user: 'admin', password: 'only-for-tests' };

/** A real Kafka in one process, on loopback: passwords by SCRAM, rights by its own authorizer, nothing allowed that no rule allows. */
export class KafkaServer {
  readonly port: number;
  readonly tlsPort: number;
  readonly ca: string;
  /** What it says, its authorizer included. */
  readonly log: string;
  readonly #folder: string;
  readonly #jars: string;
  #process: ChildProcess | undefined;

  private constructor(folder: string, jars: string, ports: Ports, ca: string) {
    this.#folder = folder;
    this.#jars = jars;
    this.port = ports.plain;
    this.tlsPort = ports.tls;
    this.ca = ca;
    this.log = join(folder, 'log');
  }

  static async start(): Promise<KafkaServer> {
    const jars = await kafkaJars();
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-kafka-'));
    const ports = { plain: await freePort(), tls: await freePort(), controller: await freePort() };
    const { ca, serverCert, serverKey } = makeCertificates(folder);
    writeFileSync(join(folder, 'server.pem'), readFileSync(serverKey, 'utf8') + readFileSync(serverCert, 'utf8'));
    const server = new KafkaServer(folder, jars, ports, readFileSync(ca, 'utf8'));
    writeFileSync(server.#settings, settings(folder, ports));
    const scram = `SCRAM-SHA-512=[name=${KAFKA_ADMIN.user},password=${KAFKA_ADMIN.password}]`;
    const formatting = ['format', '-t', 'MkU3OEVBNTcwNTJENDM2Qg', '-c', server.#settings, '--add-scram', scram];
    const { code, stderr } = await type(toolPath('java'), ['-cp', jars, 'kafka.tools.StorageTool', ...formatting]);
    if (code !== 0) throw new Error(`Cannot format the folder of Kafka: exit code ${code}; it said: ${stderr.slice(-4000)}`);
    await server.run();
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** With what it had when it ended. */
  async run(): Promise<void> {
    const log = openSync(this.log, 'a');
    const before = readFileSync(this.log, 'utf8').length;
    const flags = ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-Dorg.slf4j.simpleLogger.log.kafka.authorizer.logger=info'];
    this.#process = spawn(toolPath('java'), [...flags, '-cp', this.#jars, 'kafka.Kafka', this.#settings], { stdio: ['ignore', log, log] });
    closeSync(log);
    const deadline = Date.now() + START_MS;
    // It listens before it answers.
    while (!readFileSync(this.log, 'utf8').slice(before).includes('Kafka Server started')) {
      if (Date.now() > deadline || this.#process.exitCode !== null)
        throw new Error(`Cannot start Kafka: it said: ${readFileSync(this.log, 'utf8').slice(-4000)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** As a machine that loses its power. */
  async kill(): Promise<void> {
    const running = this.#process;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #settings(): string {
    return join(this.#folder, 'server.properties');
  }
}

/** The class path, with what Maven fetched once and the same pins make the same. */
async function kafkaJars(): Promise<string> {
  await nodeTools('java', 'mvn');
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const pins = createHash('sha256').update(readFileSync(PROJECT)).digest('hex').slice(0, 12);
  const folder = join(cache, 'tenantry', `kafka-${VERSION}`, pins);
  const done = join(folder, 'fetched');
  if (!existsSync(done)) {
    mkdirSync(folder, { recursive: true });
    console.error(`Fetching Kafka ${VERSION} into ${folder}; the first time takes a minute.`);
    const fetching = ['-q', '-B', '-f', PROJECT, 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
    const { code, stdout, stderr } = await type(toolPath('mvn'), fetching);
    if (code !== 0) throw new Error(`Cannot fetch Kafka: exit code ${code}; Maven said: ${(stdout + stderr).slice(-4000)}`);
    writeFileSync(done, '');
  }
  return join(folder, '*');
}

interface Ports {
  plain: number;
  tls: number;
  controller: number;
}

function settings(folder: string, ports: Ports): string {
  const login = 'org.apache.kafka.common.security.scram.ScramLoginModule required';
  const clients = `CLIENT://127.0.0.1:${ports.plain},TLS://127.0.0.1:${ports.tls}`;
  const entries: Record<string, string | number> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${ports.controller}`,
    listeners: `${clients},CONTROLLER://127.0.0.1:${ports.controller}`,
    'advertised.listeners': clients,
    'listener.security.protocol.map': 'CLIENT:SASL_PLAINTEXT,TLS:SASL_SSL,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'CLIENT',
    'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-512',
    'listener.name.client.scram-sha-512.sasl.jaas.config': `${login} username="${KAFKA_ADMIN.user}" password="${KAFKA_ADMIN.password}";`,
    'listener.name.tls.scram-sha-512.sasl.jaas.config': `${login};`,
    'listener.name.tls.ssl.keystore.type': 'PEM',
    'listener.name.tls.ssl.keystore.location': join(folder, 'server.pem'),
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    // The controller's listener asks nobody who they are, and is on loopback.
    'super.users': `User:${KAFKA_ADMIN.user};User:ANONYMOUS`,
    'log.dirs': join(folder, 'data'),
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
    // A broker that was killed is not waited for by itself.
    'broker.session.timeout.ms': 6000,
  };
  return Object.entries(entries)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
