// Preloaded into a server under test (NODE_OPTIONS=--import): measures how long single turns of its event loop take, and answers over IPC.
//
// A turn is measured in CPU time of the main thread, not in wall time: on a shared machine the wall time of a turn is mostly the
// time in which somebody else had the core. Garbage collection pauses are V8's and counted apart: no slicing avoids them.
import { openSync, readSync } from 'node:fs';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.send !== undefined) {
  const fd = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const buffer = Buffer.alloc(64);
  const cpuMs = () => {
    // Without this the kernel tells what was true at its last tick, up to four milliseconds ago.
    process.cpuUsage();
    return Number(buffer.toString('latin1', 0, readSync(fd, buffer, 0, 64, 0)).split(' ')[0]) / 1e6;
  };

  let pauses = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) pauses.push({ start: entry.startTime, duration: entry.duration });
  });
  observer.observe({ entryTypes: ['gc'] });

  let turns = [];
  let quick = 0;
  let lastCpu = cpuMs();
  let lastWall = performance.now();
  let peakRss = 0;
  const beat = setInterval(() => {
    const cpu = cpuMs();
    const wall = performance.now();
    if (cpu - lastCpu > 2) turns.push({ cpu: cpu - lastCpu, from: lastWall, to: wall });
    else quick++;
    lastCpu = cpu;
    lastWall = wall;
  }, 1);
  beat.unref();
  const memory = setInterval(() => (peakRss = Math.max(peakRss, process.memoryUsage.rss())), 20);
  memory.unref();

  const reset = () => {
    turns = [];
    pauses = [];
    quick = 0;
    peakRss = process.memoryUsage.rss();
    lastCpu = cpuMs();
    lastWall = performance.now();
  };
  const answer = () => {
    const own = turns.map(({ cpu, from, to }) => {
      let gc = 0;
      for (const { start, duration } of pauses) if (start >= from && start < to) gc += duration;
      return Math.max(0, cpu - gc);
    });
    own.sort((a, b) => b - a);
    const count = own.length + quick;
    const memoryUsage = process.memoryUsage();
    return {
      turns: count,
      slowest: own.slice(0, 20),
      p99: own[Math.floor(count * 0.01)] ?? 0,
      longestPause: Math.max(0, ...pauses.map(({ duration }) => duration)),
      peakRss,
      rss: memoryUsage.rss,
      heap: memoryUsage.heapUsed,
      external: memoryUsage.external,
    };
  };
  process.on('message', (message) => {
    if (message === 'reset') {
      reset();
      process.send({ probe: 'reset' });
    } else if (message === 'collect') {
      globalThis.gc?.();
      process.send({ probe: 'collected' });
    } else if (message === 'resources') {
      process.send({ probe: process.getActiveResourcesInfo() });
    } else if (message === 'report') {
      // GC entries are delivered in a later turn than the pause itself.
      setTimeout(() => process.send({ probe: answer() }), 20);
    }
  });
  process.channel.unref();
}
