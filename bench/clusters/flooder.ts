import { ConfigMap } from '../../src/client/kinds.ts';
import { connect } from '../tenancy/engine-process.ts';

/** As much as a client can: lists and writes without a pause, on connections of their own. */
const CONNECTIONS = 8;
const IN_FLIGHT = 20;

const [, , kubeconfig] = process.argv;
for (let connection = 0; connection < CONNECTIONS; connection++) {
  const client = await connect(kubeconfig);
  const configMaps = client.resource(ConfigMap, 'default');
  for (let worker = 0; worker < IN_FLIGHT; worker++) {
    void (async () => {
      for (let call = 0; ; call++) {
        const name = `f-${connection}-${worker}-${call % 50}`;
        if (call % 4 === 0) await configMaps.list().catch(() => {});
        else
          await configMaps
            .apply({ metadata: { name }, data: { call: String(call) } }, { fieldManager: 'flood', force: true })
            .catch(() => {});
      }
    })();
  }
}
