import { runs } from 'tenantry';

// Submit, wait, result.
const { exitCode, outputs, log } = await runs.run({ runtime: 'bash', args: ['echo answer=42 | tee "$KRUNTIME_OUTPUTS"'] });
console.log(exitCode, outputs.answer, log.trim());

// Stream what it writes as it writes it; cancel when you have seen enough.
const counting = await runs.submit({ script: 'for i in $(seq 1000); do echo "$i"; sleep 0.1; done', timeout: '2m' });
for await (const { stream, text } of counting.output()) {
  console.log(stream, text.trim());
  if (text === '3\n') await counting.cancel();
}
console.log((await counting.result()).phase);
