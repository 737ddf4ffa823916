import { runtimeAccessSuite } from '../conformance/runs/access.suite.ts';
import { startKubernetesTarget } from './kubernetes-target.ts';

runtimeAccessSuite('a real kube-apiserver', startKubernetesTarget);
