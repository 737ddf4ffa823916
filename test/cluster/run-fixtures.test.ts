import { fixturesSuite } from '../conformance/runs/fixtures.suite.ts';
import { startKubernetesTarget } from './kubernetes-target.ts';

fixturesSuite('a real kube-apiserver', startKubernetesTarget);
