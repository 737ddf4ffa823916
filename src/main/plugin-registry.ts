import { imageRegistry, type ImageRegistry } from '../areas/plugins/verification/image-evidence.ts';
import { realClock } from '../lib/clock.ts';
import { NO_REGISTRIES } from '../lib/oci/registry-config.ts';
import { proxySettings } from '../lib/oci/proxy-settings.ts';
import { readRegistries } from './registries-file.ts';

/** Signatures are looked for as a node looks for images: by the same form of registries file. */
export async function pluginRegistry(file: string | undefined): Promise<ImageRegistry> {
  const registries = file === undefined ? NO_REGISTRIES : await readRegistries(file);
  return imageRegistry({ clock: realClock, registries, proxy: proxySettings(process.env) });
}
