// Written by tools/record-validation/internal-forms.go; see there.
// One line per Go type: `Key:type`, `Key=place/in/served/object:type` where that is not the key in lower camel case, `!` if left out when empty.
export const INTERNAL_FORMS = `
AWSElasticBlockStoreVolumeSource VolumeID:string FSType=fsType:string Partition:number ReadOnly:bool
Affinity NodeAffinity:*#NodeAffinity PodAffinity:*#PodAffinity PodAntiAffinity:*#PodAntiAffinity
AppArmorProfile Type:string LocalhostProfile:*string
AttachedVolume Name:string DevicePath:string
AzureDiskVolumeSource DiskName:string DataDiskURI=diskURI:string CachingMode:*string FSType=fsType:*string ReadOnly:*bool Kind:*string
AzureFilePersistentVolumeSource SecretName:string ShareName:string ReadOnly:bool SecretNamespace:*string
AzureFileVolumeSource SecretName:string ShareName:string ReadOnly:bool
CSIPersistentVolumeSource Driver:string VolumeHandle:string ReadOnly:bool FSType=fsType:string VolumeAttributes:{string ControllerPublishSecretRef:*#SecretReference NodeStageSecretRef:*#SecretReference NodePublishSecretRef:*#SecretReference ControllerExpandSecretRef:*#SecretReference NodeExpandSecretRef:*#SecretReference
CSIVolumeSource Driver:string ReadOnly:*bool FSType=fsType:*string VolumeAttributes:{string NodePublishSecretRef:*#LocalObjectReference
Capabilities Add:[string Drop:[string
CephFSPersistentVolumeSource Monitors:[string Path:string User:string SecretFile:string SecretRef:*#SecretReference ReadOnly:bool
CephFSVolumeSource Monitors:[string Path:string User:string SecretFile:string SecretRef:*#LocalObjectReference ReadOnly:bool
CinderPersistentVolumeSource VolumeID:string FSType=fsType:string ReadOnly:bool SecretRef:*#SecretReference
CinderVolumeSource VolumeID:string FSType=fsType:string ReadOnly:bool SecretRef:*#LocalObjectReference
ClientIPConfig TimeoutSeconds:*number
ClusterTrustBundleProjection Name:*string SignerName:*string LabelSelector:*#LabelSelector Optional:*bool Path:string
Condition type:string status:string observedGeneration:number! lastTransitionTime:time reason:string message:string
ConfigMapEnvSource Name:string Optional:*bool
ConfigMapKeySelector Name:string Key:string Optional:*bool
ConfigMapNodeConfigSource Namespace:string Name:string UID=uid:string ResourceVersion:string KubeletConfigKey:string
ConfigMapProjection Name:string Items:[#KeyToPath Optional:*bool
ConfigMapVolumeSource Name:string Items:[#KeyToPath DefaultMode:*number Optional:*bool
Container Name:string Image:string Command:[string Args:[string WorkingDir:string Ports:[#ContainerPort EnvFrom:[#EnvFromSource Env:[#EnvVar Resources:#ResourceRequirements ResizePolicy:[#ContainerResizePolicy RestartPolicy:*string RestartPolicyRules:[#ContainerRestartRule VolumeMounts:[#VolumeMount VolumeDevices:[#VolumeDevice LivenessProbe:*#Probe ReadinessProbe:*#Probe StartupProbe:*#Probe Lifecycle:*#Lifecycle TerminationMessagePath:string TerminationMessagePolicy:string ImagePullPolicy:string SecurityContext:*#SecurityContext Stdin:bool StdinOnce:bool TTY=tty:bool
ContainerExtendedResourceRequest ContainerName:string ResourceName:string RequestName:string
ContainerImage Names:[string SizeBytes:number
ContainerPort Name:string HostPort:number ContainerPort:number Protocol:string HostIP:string
ContainerResizePolicy ResourceName:string RestartPolicy:string
ContainerRestartRule Action:string ExitCodes:*#ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes Operator:string Values:[number
ContainerState Waiting:*#ContainerStateWaiting Running:*#ContainerStateRunning Terminated:*#ContainerStateTerminated
ContainerStateRunning StartedAt:time
ContainerStateTerminated ExitCode:number Signal:number Reason:string Message:string StartedAt:time FinishedAt:time ContainerID:string
ContainerStateWaiting Reason:string Message:string
ContainerStatus Name:string State:#ContainerState LastTerminationState=lastState:#ContainerState Ready:bool RestartCount:number Image:string ImageID:string ContainerID:string Started:*bool AllocatedResources:{quantity Resources:*#ResourceRequirements VolumeMounts:[#VolumeMountStatus User:*#ContainerUser AllocatedResourcesStatus:[#ResourceStatus StopSignal:*string
ContainerUser Linux:*#LinuxContainerUser
DaemonEndpoint Port=Port:number
DownwardAPIProjection Items:[#DownwardAPIVolumeFile
DownwardAPIVolumeFile Path:string FieldRef:*#ObjectFieldSelector ResourceFieldRef:*#ResourceFieldSelector Mode:*number
DownwardAPIVolumeSource Items:[#DownwardAPIVolumeFile DefaultMode:*number
EmptyDirVolumeSource Medium:string SizeLimit:*quantity
EndpointAddress IP=ip:string Hostname:string NodeName:*string TargetRef:*#ObjectReference
EndpointPort Name:string Port:number Protocol:string AppProtocol:*string
EndpointSubset Addresses:[#EndpointAddress NotReadyAddresses:[#EndpointAddress Ports:[#EndpointPort
Endpoints name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Subsets:[#EndpointSubset
EnvFromSource Prefix:string ConfigMapRef:*#ConfigMapEnvSource SecretRef:*#SecretEnvSource
EnvVar Name:string Value:string ValueFrom:*#EnvVarSource
EnvVarSource FieldRef:*#ObjectFieldSelector ResourceFieldRef:*#ResourceFieldSelector ConfigMapKeyRef:*#ConfigMapKeySelector SecretKeyRef:*#SecretKeySelector FileKeyRef:*#FileKeySelector
EphemeralContainer Name:string Image:string Command:[string Args:[string WorkingDir:string Ports:[#ContainerPort EnvFrom:[#EnvFromSource Env:[#EnvVar Resources:#ResourceRequirements ResizePolicy:[#ContainerResizePolicy RestartPolicy:*string RestartPolicyRules:[#ContainerRestartRule VolumeMounts:[#VolumeMount VolumeDevices:[#VolumeDevice LivenessProbe:*#Probe ReadinessProbe:*#Probe StartupProbe:*#Probe Lifecycle:*#Lifecycle TerminationMessagePath:string TerminationMessagePolicy:string ImagePullPolicy:string SecurityContext:*#SecurityContext Stdin:bool StdinOnce:bool TTY=tty:bool TargetContainerName:string
EphemeralVolumeSource VolumeClaimTemplate:*#PersistentVolumeClaimTemplate
Event name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! InvolvedObject:#ObjectReference Reason:string Message:string Source:#EventSource FirstTimestamp:time LastTimestamp:time Count:number Type:string EventTime:time Series:*#EventSeries Action:string Related:*#ObjectReference ReportingController=reportingComponent:string ReportingInstance:string
EventSeries Count:number LastObservedTime:time
EventSource Component:string Host:string
ExecAction Command:[string
FCVolumeSource TargetWWNs:[string Lun:*number FSType=fsType:string ReadOnly:bool WWIDs=wwids:[string
FileKeySelector VolumeName:string Path:string Key:string Optional:*bool
FlexPersistentVolumeSource Driver:string FSType=fsType:string SecretRef:*#SecretReference ReadOnly:bool Options:{string
FlexVolumeSource Driver:string FSType=fsType:string SecretRef:*#LocalObjectReference ReadOnly:bool Options:{string
FlockerVolumeSource DatasetName:string DatasetUUID:string
GCEPersistentDiskVolumeSource PDName=pdName:string FSType=fsType:string Partition:number ReadOnly:bool
GRPCAction Port:number Service:*string
GitRepoVolumeSource Repository:string Revision:string Directory:string
GlusterfsPersistentVolumeSource EndpointsName=endpoints:string Path:string ReadOnly:bool EndpointsNamespace:*string
GlusterfsVolumeSource EndpointsName=endpoints:string Path:string ReadOnly:bool
HTTPGetAction Path:string Port:intstr Host:string Scheme:string HTTPHeaders=httpHeaders:[#HTTPHeader
HTTPHeader Name:string Value:string
HostAlias IP=ip:string Hostnames:[string
HostIP IP=ip:string
HostPathVolumeSource Path:string Type:*string
ISCSIPersistentVolumeSource TargetPortal:string IQN=iqn:string Lun:number ISCSIInterface=iscsiInterface:string FSType=fsType:string ReadOnly:bool Portals:[string DiscoveryCHAPAuth=chapAuthDiscovery:bool SessionCHAPAuth=chapAuthSession:bool SecretRef:*#SecretReference InitiatorName:*string
ISCSIVolumeSource TargetPortal:string IQN=iqn:string Lun:number ISCSIInterface=iscsiInterface:string FSType=fsType:string ReadOnly:bool Portals:[string DiscoveryCHAPAuth=chapAuthDiscovery:bool SessionCHAPAuth=chapAuthSession:bool SecretRef:*#LocalObjectReference InitiatorName:*string
ImageVolumeSource Reference:string PullPolicy:string
KeyToPath Key:string Path:string Mode:*number
LabelSelector matchLabels:{string! matchExpressions:[#LabelSelectorRequirement!
LabelSelectorRequirement key:string operator:string values:[string!
Lifecycle PostStart:*#LifecycleHandler PreStop:*#LifecycleHandler StopSignal:*string
LifecycleHandler Exec:*#ExecAction HTTPGet=httpGet:*#HTTPGetAction TCPSocket=tcpSocket:*#TCPSocketAction Sleep:*#SleepAction
LinuxContainerUser UID=uid:number GID=gid:number SupplementalGroups:[number
LoadBalancerIngress IP=ip:string Hostname:string IPMode=ipMode:*string Ports:[#PortStatus
LoadBalancerStatus Ingress:[#LoadBalancerIngress
LocalObjectReference Name:string
LocalVolumeSource Path:string FSType=fsType:*string
ManagedFieldsEntry manager:string! operation:string! apiVersion:string! time:*time! fieldsType:string! fieldsV1:*raw! subresource:string!
ModifyVolumeStatus TargetVolumeAttributesClassName:string Status:string
NFSVolumeSource Server:string Path:string ReadOnly:bool
Node name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#NodeSpec Status:#NodeStatus
NodeAddress Type:string Address:string
NodeAffinity RequiredDuringSchedulingIgnoredDuringExecution:*#NodeSelector PreferredDuringSchedulingIgnoredDuringExecution:[#PreferredSchedulingTerm
NodeCondition Type:string Status:string LastHeartbeatTime:time LastTransitionTime:time Reason:string Message:string
NodeConfigSource ConfigMap:*#ConfigMapNodeConfigSource
NodeConfigStatus Assigned:*#NodeConfigSource Active:*#NodeConfigSource LastKnownGood:*#NodeConfigSource Error:string
NodeDaemonEndpoints KubeletEndpoint:#DaemonEndpoint
NodeFeatures SupplementalGroupsPolicy:*bool
NodeRuntimeHandler Name:string Features:*#NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures RecursiveReadOnlyMounts:*bool UserNamespaces:*bool
NodeSelector NodeSelectorTerms:[#NodeSelectorTerm
NodeSelectorRequirement Key:string Operator:string Values:[string
NodeSelectorTerm MatchExpressions:[#NodeSelectorRequirement MatchFields:[#NodeSelectorRequirement
NodeSpec PodCIDRs:[string ProviderID:string Unschedulable:bool Taints:[#Taint ConfigSource:*#NodeConfigSource DoNotUseExternalID=externalID:string
NodeStatus Capacity:{quantity Allocatable:{quantity Phase:string Conditions:[#NodeCondition Addresses:[#NodeAddress DaemonEndpoints:#NodeDaemonEndpoints NodeInfo:#NodeSystemInfo Images:[#ContainerImage VolumesInUse:[string VolumesAttached:[#AttachedVolume Config:*#NodeConfigStatus RuntimeHandlers:[#NodeRuntimeHandler Features:*#NodeFeatures DeclaredFeatures:[string
NodeSwapStatus Capacity:*number
NodeSystemInfo MachineID:string SystemUUID:string BootID:string KernelVersion:string OSImage=osImage:string ContainerRuntimeVersion:string KubeletVersion:string KubeProxyVersion:string OperatingSystem:string Architecture:string Swap:*#NodeSwapStatus
ObjectFieldSelector APIVersion=apiVersion:string FieldPath:string
ObjectReference Kind:string Namespace:string Name:string UID=uid:string APIVersion=apiVersion:string ResourceVersion:string FieldPath:string
OwnerReference apiVersion:string kind:string name:string uid:string controller:*bool! blockOwnerDeletion:*bool!
PersistentVolume name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#PersistentVolumeSpec Status:#PersistentVolumeStatus
PersistentVolumeClaim name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#PersistentVolumeClaimSpec Status:#PersistentVolumeClaimStatus
PersistentVolumeClaimCondition Type:string Status:string LastProbeTime:time LastTransitionTime:time Reason:string Message:string
PersistentVolumeClaimSpec AccessModes:[string Selector:*#LabelSelector Resources:#VolumeResourceRequirements VolumeName:string StorageClassName:*string VolumeMode:*string DataSource:*#TypedLocalObjectReference DataSourceRef:*#TypedObjectReference VolumeAttributesClassName:*string
PersistentVolumeClaimStatus Phase:string AccessModes:[string Capacity:{quantity Conditions:[#PersistentVolumeClaimCondition AllocatedResources:{quantity AllocatedResourceStatuses:{string CurrentVolumeAttributesClassName:*string ModifyVolumeStatus:*#ModifyVolumeStatus
PersistentVolumeClaimTemplate name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource ClaimName:string ReadOnly:bool
PersistentVolumeSpec Capacity:{quantity GCEPersistentDisk=gcePersistentDisk:*#GCEPersistentDiskVolumeSource AWSElasticBlockStore=awsElasticBlockStore:*#AWSElasticBlockStoreVolumeSource HostPath:*#HostPathVolumeSource Glusterfs:*#GlusterfsPersistentVolumeSource NFS=nfs:*#NFSVolumeSource RBD=rbd:*#RBDPersistentVolumeSource Quobyte:*#QuobyteVolumeSource ISCSI=iscsi:*#ISCSIPersistentVolumeSource FlexVolume:*#FlexPersistentVolumeSource Cinder:*#CinderPersistentVolumeSource CephFS=cephfs:*#CephFSPersistentVolumeSource FC=fc:*#FCVolumeSource Flocker:*#FlockerVolumeSource AzureFile:*#AzureFilePersistentVolumeSource VsphereVolume:*#VsphereVirtualDiskVolumeSource AzureDisk:*#AzureDiskVolumeSource PhotonPersistentDisk:*#PhotonPersistentDiskVolumeSource PortworxVolume:*#PortworxVolumeSource ScaleIO:*#ScaleIOPersistentVolumeSource Local:*#LocalVolumeSource StorageOS=storageos:*#StorageOSPersistentVolumeSource CSI=csi:*#CSIPersistentVolumeSource AccessModes:[string ClaimRef:*#ObjectReference PersistentVolumeReclaimPolicy:string StorageClassName:string MountOptions:[string VolumeMode:*string NodeAffinity:*#VolumeNodeAffinity VolumeAttributesClassName:*string
PersistentVolumeStatus Phase:string Message:string Reason:string LastPhaseTransitionTime:*time
PhotonPersistentDiskVolumeSource PdID:string FSType=fsType:string
Pod name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#PodSpec Status:#PodStatus
PodAffinity RequiredDuringSchedulingIgnoredDuringExecution:[#PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:[#WeightedPodAffinityTerm
PodAffinityTerm LabelSelector:*#LabelSelector Namespaces:[string TopologyKey:string NamespaceSelector:*#LabelSelector MatchLabelKeys:[string MismatchLabelKeys:[string
PodAntiAffinity RequiredDuringSchedulingIgnoredDuringExecution:[#PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:[#WeightedPodAffinityTerm
PodCertificateProjection SignerName:string KeyType:string MaxExpirationSeconds:*number CredentialBundlePath:string KeyPath:string CertificateChainPath:string UserAnnotations:{string
PodCondition Type:string ObservedGeneration:number Status:string LastProbeTime:time LastTransitionTime:time Reason:string Message:string
PodDNSConfig Nameservers:[string Searches:[string Options:[#PodDNSConfigOption
PodDNSConfigOption Name:string Value:*string
PodExtendedResourceClaimStatus RequestMappings:[#ContainerExtendedResourceRequest ResourceClaimName:string
PodIP IP=ip:string
PodOS Name:string
PodReadinessGate ConditionType:string
PodResourceClaim Name:string ResourceClaimName:*string ResourceClaimTemplateName:*string
PodResourceClaimStatus Name:string ResourceClaimName:*string
PodSchedulingGate Name:string
PodSecurityContext HostNetwork:bool HostPID:bool HostIPC:bool ShareProcessNamespace:*bool HostUsers:*bool SELinuxOptions=seLinuxOptions:*#SELinuxOptions WindowsOptions:*#WindowsSecurityContextOptions RunAsUser:*number RunAsGroup:*number RunAsNonRoot:*bool SupplementalGroups:[number SupplementalGroupsPolicy:*string FSGroup=fsGroup:*number FSGroupChangePolicy=fsGroupChangePolicy:*string Sysctls:[#Sysctl SeccompProfile:*#SeccompProfile AppArmorProfile:*#AppArmorProfile SELinuxChangePolicy=seLinuxChangePolicy:*string
PodSpec Volumes:[#Volume InitContainers:[#Container Containers:[#Container EphemeralContainers:[#EphemeralContainer RestartPolicy:string TerminationGracePeriodSeconds:*number ActiveDeadlineSeconds:*number DNSPolicy=dnsPolicy:string NodeSelector:{string ServiceAccountName:string AutomountServiceAccountToken:*bool NodeName:string SecurityContext:*#PodSecurityContext ImagePullSecrets:[#LocalObjectReference Hostname:string Subdomain:string SetHostnameAsFQDN:*bool Affinity:*#Affinity SchedulerName:string Tolerations:[#Toleration HostAliases:[#HostAlias PriorityClassName:string Priority:*number PreemptionPolicy:*string DNSConfig=dnsConfig:*#PodDNSConfig ReadinessGates:[#PodReadinessGate RuntimeClassName:*string Overhead:{quantity EnableServiceLinks:*bool TopologySpreadConstraints:[#TopologySpreadConstraint OS=os:*#PodOS SchedulingGates:[#PodSchedulingGate ResourceClaims:[#PodResourceClaim Resources:*#ResourceRequirements HostnameOverride:*string WorkloadRef:*#WorkloadReference
PodStatus ObservedGeneration:number Phase:string Conditions:[#PodCondition Message:string Reason:string NominatedNodeName:string HostIP:string HostIPs:[#HostIP PodIPs:[#PodIP StartTime:*time QOSClass=qosClass:string InitContainerStatuses:[#ContainerStatus ContainerStatuses:[#ContainerStatus EphemeralContainerStatuses:[#ContainerStatus Resize:string ResourceClaimStatuses:[#PodResourceClaimStatus ExtendedResourceClaimStatus:*#PodExtendedResourceClaimStatus AllocatedResources:{quantity Resources:*#ResourceRequirements
PodTemplate name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Template:#PodTemplateSpec
PodTemplateSpec name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#PodSpec
PortStatus Port:number Protocol:string Error:*string
PortworxVolumeSource VolumeID:string FSType=fsType:string ReadOnly:bool
PreferredSchedulingTerm Weight:number Preference:#NodeSelectorTerm
Probe Exec:*#ExecAction HTTPGet=httpGet:*#HTTPGetAction TCPSocket=tcpSocket:*#TCPSocketAction GRPC=grpc:*#GRPCAction InitialDelaySeconds:number TimeoutSeconds:number PeriodSeconds:number SuccessThreshold:number FailureThreshold:number TerminationGracePeriodSeconds:*number
ProjectedVolumeSource Sources:[#VolumeProjection DefaultMode:*number
QuobyteVolumeSource Registry:string Volume:string ReadOnly:bool User:string Group:string Tenant:string
RBDPersistentVolumeSource CephMonitors=monitors:[string RBDImage=image:string FSType=fsType:string RBDPool=pool:string RadosUser=user:string Keyring:string SecretRef:*#SecretReference ReadOnly:bool
RBDVolumeSource CephMonitors=monitors:[string RBDImage=image:string FSType=fsType:string RBDPool=pool:string RadosUser=user:string Keyring:string SecretRef:*#LocalObjectReference ReadOnly:bool
ResourceClaim Name:string Request:string
ResourceFieldSelector ContainerName:string Resource:string Divisor:quantity
ResourceHealth ResourceID:string Health:string
ResourceQuota name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#ResourceQuotaSpec Status:#ResourceQuotaStatus
ResourceQuotaSpec Hard:{quantity Scopes:[string ScopeSelector:*#ScopeSelector
ResourceQuotaStatus Hard:{quantity Used:{quantity
ResourceRequirements Limits:{quantity Requests:{quantity Claims:[#ResourceClaim
ResourceStatus Name:string Resources:[#ResourceHealth
SELinuxOptions User:string Role:string Type:string Level:string
ScaleIOPersistentVolumeSource Gateway:string System:string SecretRef:*#SecretReference SSLEnabled=sslEnabled:bool ProtectionDomain:string StoragePool:string StorageMode:string VolumeName:string FSType=fsType:string ReadOnly:bool
ScaleIOVolumeSource Gateway:string System:string SecretRef:*#LocalObjectReference SSLEnabled=sslEnabled:bool ProtectionDomain:string StoragePool:string StorageMode:string VolumeName:string FSType=fsType:string ReadOnly:bool
ScopeSelector MatchExpressions:[#ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement ScopeName:string Operator:string Values:[string
SeccompProfile Type:string LocalhostProfile:*string
SecretEnvSource Name:string Optional:*bool
SecretKeySelector Name:string Key:string Optional:*bool
SecretProjection Name:string Items:[#KeyToPath Optional:*bool
SecretReference Name:string Namespace:string
SecretVolumeSource SecretName:string Items:[#KeyToPath DefaultMode:*number Optional:*bool
SecurityContext Capabilities:*#Capabilities Privileged:*bool SELinuxOptions=seLinuxOptions:*#SELinuxOptions WindowsOptions:*#WindowsSecurityContextOptions RunAsUser:*number RunAsGroup:*number RunAsNonRoot:*bool ReadOnlyRootFilesystem:*bool AllowPrivilegeEscalation:*bool ProcMount:*string SeccompProfile:*#SeccompProfile AppArmorProfile:*#AppArmorProfile
Service name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#ServiceSpec Status:#ServiceStatus
ServiceAccountTokenProjection Audience:string ExpirationSeconds:number Path:string
ServicePort Name:string Protocol:string AppProtocol:*string Port:number TargetPort:intstr NodePort:number
ServiceSpec Type:string Ports:[#ServicePort Selector:{string ClusterIP:string ClusterIPs:[string IPFamilies=ipFamilies:[string IPFamilyPolicy=ipFamilyPolicy:*string ExternalName:string ExternalIPs:[string LoadBalancerIP:string SessionAffinity:string SessionAffinityConfig:*#SessionAffinityConfig LoadBalancerSourceRanges:[string ExternalTrafficPolicy:string HealthCheckNodePort:number PublishNotReadyAddresses:bool AllocateLoadBalancerNodePorts:*bool LoadBalancerClass:*string InternalTrafficPolicy:*string TrafficDistribution:*string
ServiceStatus LoadBalancer:#LoadBalancerStatus Conditions:[#Condition
SessionAffinityConfig ClientIP:*#ClientIPConfig
SleepAction Seconds:number
StorageOSPersistentVolumeSource VolumeName:string VolumeNamespace:string FSType=fsType:string ReadOnly:bool SecretRef:*#ObjectReference
StorageOSVolumeSource VolumeName:string VolumeNamespace:string FSType=fsType:string ReadOnly:bool SecretRef:*#LocalObjectReference
Sysctl Name:string Value:string
TCPSocketAction Port:intstr Host:string
Taint Key:string Value:string Effect:string TimeAdded:*time
Toleration Key:string Operator:string Value:string Effect:string TolerationSeconds:*number
TopologySelectorLabelRequirement Key:string Values:[string
TopologySelectorTerm MatchLabelExpressions:[#TopologySelectorLabelRequirement
TopologySpreadConstraint MaxSkew:number TopologyKey:string WhenUnsatisfiable:string LabelSelector:*#LabelSelector MinDomains:*number NodeAffinityPolicy:*string NodeTaintsPolicy:*string MatchLabelKeys:[string
TypedLocalObjectReference APIGroup=apiGroup:*string Kind:string Name:string
TypedObjectReference APIGroup=apiGroup:*string Kind:string Name:string Namespace:*string
Volume Name:string HostPath:*#HostPathVolumeSource EmptyDir:*#EmptyDirVolumeSource GCEPersistentDisk=gcePersistentDisk:*#GCEPersistentDiskVolumeSource AWSElasticBlockStore=awsElasticBlockStore:*#AWSElasticBlockStoreVolumeSource GitRepo:*#GitRepoVolumeSource Secret:*#SecretVolumeSource NFS=nfs:*#NFSVolumeSource ISCSI=iscsi:*#ISCSIVolumeSource Glusterfs:*#GlusterfsVolumeSource PersistentVolumeClaim:*#PersistentVolumeClaimVolumeSource RBD=rbd:*#RBDVolumeSource Quobyte:*#QuobyteVolumeSource FlexVolume:*#FlexVolumeSource Cinder:*#CinderVolumeSource CephFS=cephfs:*#CephFSVolumeSource Flocker:*#FlockerVolumeSource DownwardAPI:*#DownwardAPIVolumeSource FC=fc:*#FCVolumeSource AzureFile:*#AzureFileVolumeSource ConfigMap:*#ConfigMapVolumeSource VsphereVolume:*#VsphereVirtualDiskVolumeSource AzureDisk:*#AzureDiskVolumeSource PhotonPersistentDisk:*#PhotonPersistentDiskVolumeSource Projected:*#ProjectedVolumeSource PortworxVolume:*#PortworxVolumeSource ScaleIO:*#ScaleIOVolumeSource StorageOS=storageos:*#StorageOSVolumeSource CSI=csi:*#CSIVolumeSource Ephemeral:*#EphemeralVolumeSource Image:*#ImageVolumeSource
VolumeDevice Name:string DevicePath:string
VolumeMount Name:string ReadOnly:bool RecursiveReadOnly:*string MountPath:string SubPath:string MountPropagation:*string SubPathExpr:string
VolumeMountStatus Name:string MountPath:string ReadOnly:bool RecursiveReadOnly:*string
VolumeNodeAffinity Required:*#NodeSelector
VolumeProjection Secret:*#SecretProjection DownwardAPI:*#DownwardAPIProjection ConfigMap:*#ConfigMapProjection ServiceAccountToken:*#ServiceAccountTokenProjection ClusterTrustBundle:*#ClusterTrustBundleProjection PodCertificate:*#PodCertificateProjection
VolumeResourceRequirements Limits:{quantity Requests:{quantity
VsphereVirtualDiskVolumeSource VolumePath:string FSType=fsType:string StoragePolicyName:string StoragePolicyID:string
WeightedPodAffinityTerm Weight:number PodAffinityTerm:#PodAffinityTerm
WindowsSecurityContextOptions GMSACredentialSpecName=gmsaCredentialSpecName:*string GMSACredentialSpec=gmsaCredentialSpec:*string RunAsUserName:*string HostProcess:*bool
WorkloadReference Name:string PodGroup:string PodGroupReplicaKey:string
admissionregistration.AuditAnnotation Key:string ValueExpression:string
admissionregistration.ExpressionWarning FieldRef:string Warning:string
admissionregistration.MatchCondition Name:string Expression:string
admissionregistration.MatchResources NamespaceSelector:*#LabelSelector ObjectSelector:*#LabelSelector ResourceRules:[#admissionregistration.NamedRuleWithOperations ExcludeResourceRules:[#admissionregistration.NamedRuleWithOperations MatchPolicy:*string
admissionregistration.MutatingWebhook Name:string ClientConfig:#admissionregistration.WebhookClientConfig Rules:[#admissionregistration.RuleWithOperations FailurePolicy:*string MatchPolicy:*string NamespaceSelector:*#LabelSelector ObjectSelector:*#LabelSelector SideEffects:*string TimeoutSeconds:*number AdmissionReviewVersions:[string ReinvocationPolicy:*string MatchConditions:[#admissionregistration.MatchCondition
admissionregistration.MutatingWebhookConfiguration name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Webhooks:[#admissionregistration.MutatingWebhook
admissionregistration.NamedRuleWithOperations ResourceNames:[string RuleWithOperations=:#admissionregistration.RuleWithOperations
admissionregistration.ParamKind APIVersion=apiVersion:string Kind:string
admissionregistration.ParamRef Name:string Namespace:string Selector:*#LabelSelector ParameterNotFoundAction:*string
admissionregistration.RuleWithOperations Operations:[string APIGroups=apiGroups:[string APIVersions=apiVersions:[string Resources:[string Scope:*string
admissionregistration.ServiceReference Namespace:string Name:string Path:*string Port:number
admissionregistration.TypeChecking ExpressionWarnings:[#admissionregistration.ExpressionWarning
admissionregistration.ValidatingAdmissionPolicy name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#admissionregistration.ValidatingAdmissionPolicySpec Status:#admissionregistration.ValidatingAdmissionPolicyStatus
admissionregistration.ValidatingAdmissionPolicyBinding name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#admissionregistration.ValidatingAdmissionPolicyBindingSpec
admissionregistration.ValidatingAdmissionPolicyBindingSpec PolicyName:string ParamRef:*#admissionregistration.ParamRef MatchResources:*#admissionregistration.MatchResources ValidationActions:[string
admissionregistration.ValidatingAdmissionPolicySpec ParamKind:*#admissionregistration.ParamKind MatchConstraints:*#admissionregistration.MatchResources Validations:[#admissionregistration.Validation MatchConditions:[#admissionregistration.MatchCondition FailurePolicy:*string AuditAnnotations:[#admissionregistration.AuditAnnotation Variables:[#admissionregistration.Variable
admissionregistration.ValidatingAdmissionPolicyStatus ObservedGeneration:number TypeChecking:*#admissionregistration.TypeChecking Conditions:[#Condition
admissionregistration.ValidatingWebhook Name:string ClientConfig:#admissionregistration.WebhookClientConfig Rules:[#admissionregistration.RuleWithOperations FailurePolicy:*string MatchPolicy:*string NamespaceSelector:*#LabelSelector ObjectSelector:*#LabelSelector SideEffects:*string TimeoutSeconds:*number AdmissionReviewVersions:[string MatchConditions:[#admissionregistration.MatchCondition
admissionregistration.ValidatingWebhookConfiguration name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Webhooks:[#admissionregistration.ValidatingWebhook
admissionregistration.Validation Expression:string Message:string Reason:*string MessageExpression:string
admissionregistration.Variable Name:string Expression:string
admissionregistration.WebhookClientConfig URL=url:*string Service:*#admissionregistration.ServiceReference CABundle=caBundle:*bytes
apps.DaemonSet name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#apps.DaemonSetSpec Status:#apps.DaemonSetStatus
apps.DaemonSetCondition Type:string Status:string LastTransitionTime:time Reason:string Message:string
apps.DaemonSetSpec Selector:*#LabelSelector Template:#PodTemplateSpec UpdateStrategy:#apps.DaemonSetUpdateStrategy MinReadySeconds:number TemplateGeneration=:number RevisionHistoryLimit:*number
apps.DaemonSetStatus CurrentNumberScheduled:number NumberMisscheduled:number DesiredNumberScheduled:number NumberReady:number ObservedGeneration:number UpdatedNumberScheduled:number NumberAvailable:number NumberUnavailable:number CollisionCount:*number Conditions:[#apps.DaemonSetCondition
apps.DaemonSetUpdateStrategy Type:string RollingUpdate:*#apps.RollingUpdateDaemonSet
apps.Deployment name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#apps.DeploymentSpec Status:#apps.DeploymentStatus
apps.DeploymentCondition Type:string Status:string LastUpdateTime:time LastTransitionTime:time Reason:string Message:string
apps.DeploymentSpec Replicas:number Selector:*#LabelSelector Template:#PodTemplateSpec Strategy:#apps.DeploymentStrategy MinReadySeconds:number RevisionHistoryLimit:*number Paused:bool RollbackTo=:*#apps.RollbackConfig ProgressDeadlineSeconds:*number
apps.DeploymentStatus ObservedGeneration:number Replicas:number UpdatedReplicas:number ReadyReplicas:number AvailableReplicas:number UnavailableReplicas:number TerminatingReplicas:*number Conditions:[#apps.DeploymentCondition CollisionCount:*number
apps.DeploymentStrategy Type:string RollingUpdate:*#apps.RollingUpdateDeployment
apps.ReplicaSet name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#apps.ReplicaSetSpec Status:#apps.ReplicaSetStatus
apps.ReplicaSetCondition Type:string Status:string LastTransitionTime:time Reason:string Message:string
apps.ReplicaSetSpec Replicas:number MinReadySeconds:number Selector:*#LabelSelector Template:#PodTemplateSpec
apps.ReplicaSetStatus Replicas:number FullyLabeledReplicas:number ReadyReplicas:number AvailableReplicas:number TerminatingReplicas:*number ObservedGeneration:number Conditions:[#apps.ReplicaSetCondition
apps.RollbackConfig Revision=:number
apps.RollingUpdateDaemonSet MaxUnavailable:intstr MaxSurge:intstr
apps.RollingUpdateDeployment MaxUnavailable:intstr MaxSurge:intstr
apps.RollingUpdateStatefulSetStrategy Partition:number MaxUnavailable:*intstr
apps.StatefulSet name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#apps.StatefulSetSpec Status:#apps.StatefulSetStatus
apps.StatefulSetCondition Type:string Status:string LastTransitionTime:time Reason:string Message:string
apps.StatefulSetOrdinals Start:number
apps.StatefulSetPersistentVolumeClaimRetentionPolicy WhenDeleted:string WhenScaled:string
apps.StatefulSetSpec Replicas:number Selector:*#LabelSelector Template:#PodTemplateSpec VolumeClaimTemplates:[#PersistentVolumeClaim ServiceName:string PodManagementPolicy:string UpdateStrategy:#apps.StatefulSetUpdateStrategy RevisionHistoryLimit:*number MinReadySeconds:number PersistentVolumeClaimRetentionPolicy:*#apps.StatefulSetPersistentVolumeClaimRetentionPolicy Ordinals:*#apps.StatefulSetOrdinals
apps.StatefulSetStatus ObservedGeneration:*number Replicas:number ReadyReplicas:number CurrentReplicas:number UpdatedReplicas:number CurrentRevision:string UpdateRevision:string CollisionCount:*number Conditions:[#apps.StatefulSetCondition AvailableReplicas:number
apps.StatefulSetUpdateStrategy Type:string RollingUpdate:*#apps.RollingUpdateStatefulSetStrategy
autoscaling.ContainerResourceMetricSource Name:string Container:string Target:#autoscaling.MetricTarget
autoscaling.ContainerResourceMetricStatus Name:string Container:string Current:#autoscaling.MetricValueStatus
autoscaling.CrossVersionObjectReference Kind:string Name:string APIVersion=apiVersion:string
autoscaling.ExternalMetricSource Metric:#autoscaling.MetricIdentifier Target:#autoscaling.MetricTarget
autoscaling.ExternalMetricStatus Metric:#autoscaling.MetricIdentifier Current:#autoscaling.MetricValueStatus
autoscaling.HPAScalingPolicy Type:string Value:number PeriodSeconds:number
autoscaling.HPAScalingRules StabilizationWindowSeconds:*number SelectPolicy:*string Policies:[#autoscaling.HPAScalingPolicy Tolerance:*quantity
autoscaling.HorizontalPodAutoscaler name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#autoscaling.HorizontalPodAutoscalerSpec Status:#autoscaling.HorizontalPodAutoscalerStatus
autoscaling.HorizontalPodAutoscalerBehavior ScaleUp:*#autoscaling.HPAScalingRules ScaleDown:*#autoscaling.HPAScalingRules
autoscaling.HorizontalPodAutoscalerCondition Type:string Status:string LastTransitionTime:time Reason:string Message:string
autoscaling.HorizontalPodAutoscalerSpec ScaleTargetRef:#autoscaling.CrossVersionObjectReference MinReplicas:*number MaxReplicas:number Metrics:[#autoscaling.MetricSpec Behavior:*#autoscaling.HorizontalPodAutoscalerBehavior
autoscaling.HorizontalPodAutoscalerStatus ObservedGeneration:*number LastScaleTime:*time CurrentReplicas:number DesiredReplicas:number CurrentMetrics:[#autoscaling.MetricStatus Conditions:[#autoscaling.HorizontalPodAutoscalerCondition
autoscaling.MetricIdentifier Name:string Selector:*#LabelSelector
autoscaling.MetricSpec Type:string Object:*#autoscaling.ObjectMetricSource Pods:*#autoscaling.PodsMetricSource Resource:*#autoscaling.ResourceMetricSource ContainerResource:*#autoscaling.ContainerResourceMetricSource External:*#autoscaling.ExternalMetricSource
autoscaling.MetricStatus Type:string Object:*#autoscaling.ObjectMetricStatus Pods:*#autoscaling.PodsMetricStatus Resource:*#autoscaling.ResourceMetricStatus ContainerResource:*#autoscaling.ContainerResourceMetricStatus External:*#autoscaling.ExternalMetricStatus
autoscaling.MetricTarget Type:string Value:*quantity AverageValue:*quantity AverageUtilization:*number
autoscaling.MetricValueStatus Value:*quantity AverageValue:*quantity AverageUtilization:*number
autoscaling.ObjectMetricSource DescribedObject:#autoscaling.CrossVersionObjectReference Target:#autoscaling.MetricTarget Metric:#autoscaling.MetricIdentifier
autoscaling.ObjectMetricStatus Metric:#autoscaling.MetricIdentifier Current:#autoscaling.MetricValueStatus DescribedObject:#autoscaling.CrossVersionObjectReference
autoscaling.PodsMetricSource Metric:#autoscaling.MetricIdentifier Target:#autoscaling.MetricTarget
autoscaling.PodsMetricStatus Metric:#autoscaling.MetricIdentifier Current:#autoscaling.MetricValueStatus
autoscaling.ResourceMetricSource Name:string Target:#autoscaling.MetricTarget
autoscaling.ResourceMetricStatus Name:string Current:#autoscaling.MetricValueStatus
batch.CronJob name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#batch.CronJobSpec Status:#batch.CronJobStatus
batch.CronJobSpec Schedule:string TimeZone:*string StartingDeadlineSeconds:*number ConcurrencyPolicy:string Suspend:*bool JobTemplate:#batch.JobTemplateSpec SuccessfulJobsHistoryLimit:*number FailedJobsHistoryLimit:*number
batch.CronJobStatus Active:[#ObjectReference LastScheduleTime:*time LastSuccessfulTime:*time
batch.Job name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#batch.JobSpec Status:#batch.JobStatus
batch.JobCondition Type:string Status:string LastProbeTime:time LastTransitionTime:time Reason:string Message:string
batch.JobSpec Parallelism:*number Completions:*number PodFailurePolicy:*#batch.PodFailurePolicy SuccessPolicy:*#batch.SuccessPolicy ActiveDeadlineSeconds:*number BackoffLimit:*number BackoffLimitPerIndex:*number MaxFailedIndexes:*number Selector:*#LabelSelector ManualSelector:*bool Template:#PodTemplateSpec TTLSecondsAfterFinished=ttlSecondsAfterFinished:*number CompletionMode:*string Suspend:*bool PodReplacementPolicy:*string ManagedBy:*string
batch.JobStatus Conditions:[#batch.JobCondition StartTime:*time CompletionTime:*time Active:number Terminating:*number Ready:*number Succeeded:number Failed:number CompletedIndexes:string FailedIndexes:*string UncountedTerminatedPods:*#batch.UncountedTerminatedPods
batch.JobTemplateSpec name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#batch.JobSpec
batch.PodFailurePolicy Rules:[#batch.PodFailurePolicyRule
batch.PodFailurePolicyOnExitCodesRequirement ContainerName:*string Operator:string Values:[number
batch.PodFailurePolicyOnPodConditionsPattern Type:string Status:string
batch.PodFailurePolicyRule Action:string OnExitCodes:*#batch.PodFailurePolicyOnExitCodesRequirement OnPodConditions:[#batch.PodFailurePolicyOnPodConditionsPattern
batch.SuccessPolicy Rules:[#batch.SuccessPolicyRule
batch.SuccessPolicyRule SucceededIndexes:*string SucceededCount:*number
batch.UncountedTerminatedPods Succeeded:[string Failed:[string
certificates.CertificateSigningRequest name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#certificates.CertificateSigningRequestSpec Status:#certificates.CertificateSigningRequestStatus
certificates.CertificateSigningRequestCondition Type:string Status:string Reason:string Message:string LastUpdateTime:time LastTransitionTime:time
certificates.CertificateSigningRequestSpec Request:*bytes SignerName:string ExpirationSeconds:*number Usages:[string Username:string UID=uid:string Groups:[string Extra:{[string
certificates.CertificateSigningRequestStatus Conditions:[#certificates.CertificateSigningRequestCondition Certificate:*bytes
discovery.Endpoint Addresses:[string Conditions:#discovery.EndpointConditions Hostname:*string TargetRef:*#ObjectReference DeprecatedTopology:{string NodeName:*string Zone:*string Hints:*#discovery.EndpointHints
discovery.EndpointConditions Ready:*bool Serving:*bool Terminating:*bool
discovery.EndpointHints ForZones:[#discovery.ForZone ForNodes:[#discovery.ForNode
discovery.EndpointPort Name:*string Protocol:*string Port:*number AppProtocol:*string
discovery.EndpointSlice name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! AddressType:string Endpoints:[#discovery.Endpoint Ports:[#discovery.EndpointPort
discovery.ForNode Name:string
discovery.ForZone Name:string
flowcontrol.ExemptPriorityLevelConfiguration NominalConcurrencyShares:*number LendablePercent:*number
flowcontrol.FlowDistinguisherMethod Type:string
flowcontrol.FlowSchema name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#flowcontrol.FlowSchemaSpec Status:#flowcontrol.FlowSchemaStatus
flowcontrol.FlowSchemaCondition Type:string Status:string LastTransitionTime:time Reason:string Message:string
flowcontrol.FlowSchemaSpec PriorityLevelConfiguration:#flowcontrol.PriorityLevelConfigurationReference MatchingPrecedence:number DistinguisherMethod:*#flowcontrol.FlowDistinguisherMethod Rules:[#flowcontrol.PolicyRulesWithSubjects
flowcontrol.FlowSchemaStatus Conditions:[#flowcontrol.FlowSchemaCondition
flowcontrol.GroupSubject Name:string
flowcontrol.LimitResponse Type:string Queuing:*#flowcontrol.QueuingConfiguration
flowcontrol.LimitedPriorityLevelConfiguration NominalConcurrencyShares:number LimitResponse:#flowcontrol.LimitResponse LendablePercent:*number BorrowingLimitPercent:*number
flowcontrol.NonResourcePolicyRule Verbs:[string NonResourceURLs:[string
flowcontrol.PolicyRulesWithSubjects Subjects:[#flowcontrol.Subject ResourceRules:[#flowcontrol.ResourcePolicyRule NonResourceRules:[#flowcontrol.NonResourcePolicyRule
flowcontrol.PriorityLevelConfiguration name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#flowcontrol.PriorityLevelConfigurationSpec Status:#flowcontrol.PriorityLevelConfigurationStatus
flowcontrol.PriorityLevelConfigurationCondition Type:string Status:string LastTransitionTime:time Reason:string Message:string
flowcontrol.PriorityLevelConfigurationReference Name:string
flowcontrol.PriorityLevelConfigurationSpec Type:string Limited:*#flowcontrol.LimitedPriorityLevelConfiguration Exempt:*#flowcontrol.ExemptPriorityLevelConfiguration
flowcontrol.PriorityLevelConfigurationStatus Conditions:[#flowcontrol.PriorityLevelConfigurationCondition
flowcontrol.QueuingConfiguration Queues:number HandSize:number QueueLengthLimit:number
flowcontrol.ResourcePolicyRule Verbs:[string APIGroups=apiGroups:[string Resources:[string ClusterScope:bool Namespaces:[string
flowcontrol.ServiceAccountSubject Namespace:string Name:string
flowcontrol.Subject Kind:string User:*#flowcontrol.UserSubject Group:*#flowcontrol.GroupSubject ServiceAccount:*#flowcontrol.ServiceAccountSubject
flowcontrol.UserSubject Name:string
networking.HTTPIngressPath Path:string PathType:*string Backend:#networking.IngressBackend
networking.HTTPIngressRuleValue Paths:[#networking.HTTPIngressPath
networking.IPAddress name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#networking.IPAddressSpec
networking.IPAddressSpec ParentRef:*#networking.ParentReference
networking.IPBlock CIDR=cidr:string Except:[string
networking.Ingress name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#networking.IngressSpec Status:#networking.IngressStatus
networking.IngressBackend Service:*#networking.IngressServiceBackend Resource:*#TypedLocalObjectReference
networking.IngressClass name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#networking.IngressClassSpec
networking.IngressClassParametersReference APIGroup=apiGroup:*string Kind:string Name:string Scope:*string Namespace:*string
networking.IngressClassSpec Controller:string Parameters:*#networking.IngressClassParametersReference
networking.IngressLoadBalancerIngress IP=ip:string Hostname:string Ports:[#networking.IngressPortStatus
networking.IngressLoadBalancerStatus Ingress:[#networking.IngressLoadBalancerIngress
networking.IngressPortStatus Port:number Protocol:string Error:*string
networking.IngressRule Host:string HTTP=http:*#networking.HTTPIngressRuleValue
networking.IngressServiceBackend Name:string Port:#networking.ServiceBackendPort
networking.IngressSpec IngressClassName:*string DefaultBackend:*#networking.IngressBackend TLS=tls:[#networking.IngressTLS Rules:[#networking.IngressRule
networking.IngressStatus LoadBalancer:#networking.IngressLoadBalancerStatus
networking.IngressTLS Hosts:[string SecretName:string
networking.NetworkPolicy name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#networking.NetworkPolicySpec
networking.NetworkPolicyEgressRule Ports:[#networking.NetworkPolicyPort To:[#networking.NetworkPolicyPeer
networking.NetworkPolicyIngressRule Ports:[#networking.NetworkPolicyPort From:[#networking.NetworkPolicyPeer
networking.NetworkPolicyPeer PodSelector:*#LabelSelector NamespaceSelector:*#LabelSelector IPBlock=ipBlock:*#networking.IPBlock
networking.NetworkPolicyPort Protocol:*string Port:*intstr EndPort:*number
networking.NetworkPolicySpec PodSelector:#LabelSelector Ingress:[#networking.NetworkPolicyIngressRule Egress:[#networking.NetworkPolicyEgressRule PolicyTypes:[string
networking.ParentReference Group:string Resource:string Namespace:string Name:string
networking.ServiceBackendPort Name:string Number:number
networking.ServiceCIDR name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#networking.ServiceCIDRSpec Status:#networking.ServiceCIDRStatus
networking.ServiceCIDRSpec CIDRs=cidrs:[string
networking.ServiceCIDRStatus Conditions:[#Condition
node.Overhead PodFixed:{quantity
node.RuntimeClass name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Handler:string Overhead:*#node.Overhead Scheduling:*#node.Scheduling
node.Scheduling NodeSelector:{string Tolerations:[#Toleration
policy.PodDisruptionBudget name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#policy.PodDisruptionBudgetSpec Status:#policy.PodDisruptionBudgetStatus
policy.PodDisruptionBudgetSpec MinAvailable:*intstr Selector:*#LabelSelector MaxUnavailable:*intstr UnhealthyPodEvictionPolicy:*string
policy.PodDisruptionBudgetStatus ObservedGeneration:number DisruptedPods:{time DisruptionsAllowed:number CurrentHealthy:number DesiredHealthy:number ExpectedPods:number Conditions:[#Condition
rbac.AggregationRule ClusterRoleSelectors:[#LabelSelector
rbac.ClusterRole name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Rules:[#rbac.PolicyRule AggregationRule:*#rbac.AggregationRule
rbac.PolicyRule Verbs:[string APIGroups=apiGroups:[string Resources:[string ResourceNames:[string NonResourceURLs:[string
rbac.RoleBinding name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Subjects:[#rbac.Subject RoleRef:#rbac.RoleRef
rbac.RoleRef APIGroup=apiGroup:string Kind:string Name:string
rbac.Subject Kind:string APIGroup=apiGroup:string Name:string Namespace:string
resource.AllocatedDeviceStatus Driver:string Pool:string Device:string ShareID:*string Conditions:[#Condition Data:*raw NetworkData:*#resource.NetworkDeviceData
resource.AllocationResult Devices:#resource.DeviceAllocationResult NodeSelector:*#NodeSelector AllocationTimestamp:*time
resource.CELDeviceSelector Expression:string
resource.CapacityRequirements Requests:{quantity
resource.DeviceAllocationConfiguration Source:string Requests:[string Opaque:*#resource.OpaqueDeviceConfiguration
resource.DeviceAllocationResult Results:[#resource.DeviceRequestAllocationResult Config:[#resource.DeviceAllocationConfiguration
resource.DeviceClaim Requests:[#resource.DeviceRequest Constraints:[#resource.DeviceConstraint Config:[#resource.DeviceClaimConfiguration
resource.DeviceClaimConfiguration Requests:[string Opaque:*#resource.OpaqueDeviceConfiguration
resource.DeviceClass name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#resource.DeviceClassSpec
resource.DeviceClassConfiguration Opaque:*#resource.OpaqueDeviceConfiguration
resource.DeviceClassSpec Selectors:[#resource.DeviceSelector Config:[#resource.DeviceClassConfiguration ExtendedResourceName:*string
resource.DeviceConstraint Requests:[string MatchAttribute:*string DistinctAttribute:*string
resource.DeviceRequest Name:string Exactly:*#resource.ExactDeviceRequest FirstAvailable:[#resource.DeviceSubRequest
resource.DeviceRequestAllocationResult Request:string Driver:string Pool:string Device:string AdminAccess:*bool Tolerations:[#resource.DeviceToleration BindingConditions:[string BindingFailureConditions:[string ShareID:*string ConsumedCapacity:{quantity
resource.DeviceSelector CEL=cel:*#resource.CELDeviceSelector
resource.DeviceSubRequest Name:string DeviceClassName:string Selectors:[#resource.DeviceSelector AllocationMode:string Count:number Tolerations:[#resource.DeviceToleration Capacity:*#resource.CapacityRequirements
resource.DeviceToleration Key:string Operator:string Value:string Effect:string TolerationSeconds:*number
resource.ExactDeviceRequest DeviceClassName:string Selectors:[#resource.DeviceSelector AllocationMode:string Count:number AdminAccess:*bool Tolerations:[#resource.DeviceToleration Capacity:*#resource.CapacityRequirements
resource.NetworkDeviceData InterfaceName:string IPs=ips:[string HardwareAddress:string
resource.OpaqueDeviceConfiguration Driver:string Parameters:raw
resource.ResourceClaim name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#resource.ResourceClaimSpec Status:#resource.ResourceClaimStatus
resource.ResourceClaimConsumerReference APIGroup=apiGroup:string Resource:string Name:string UID=uid:string
resource.ResourceClaimSpec Devices:#resource.DeviceClaim
resource.ResourceClaimStatus Allocation:*#resource.AllocationResult ReservedFor:[#resource.ResourceClaimConsumerReference Devices:[#resource.AllocatedDeviceStatus
resource.ResourceClaimTemplate name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#resource.ResourceClaimTemplateSpec
resource.ResourceClaimTemplateSpec name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#resource.ResourceClaimSpec
scheduling.PriorityClass name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Value:number GlobalDefault:bool Description:string PreemptionPolicy:*string
storage.CSIDriver name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#storage.CSIDriverSpec
storage.CSIDriverSpec AttachRequired:*bool FSGroupPolicy=fsGroupPolicy:*string PodInfoOnMount:*bool VolumeLifecycleModes:[string StorageCapacity:*bool TokenRequests:[#storage.TokenRequest RequiresRepublish:*bool SELinuxMount=seLinuxMount:*bool NodeAllocatableUpdatePeriodSeconds:*number ServiceAccountTokenInSecrets:*bool
storage.CSINode name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#storage.CSINodeSpec
storage.CSINodeDriver Name:string NodeID:string TopologyKeys:[string Allocatable:*#storage.VolumeNodeResources
storage.CSINodeSpec Drivers:[#storage.CSINodeDriver
storage.StorageClass name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Provisioner:string Parameters:{string ReclaimPolicy:*string MountOptions:[string AllowVolumeExpansion:*bool VolumeBindingMode:*string AllowedTopologies:[#TopologySelectorTerm
storage.TokenRequest Audience:string ExpirationSeconds:*number
storage.VolumeAttachment name=metadata/name:string! generateName=metadata/generateName:string! namespace=metadata/namespace:string! selfLink=metadata/selfLink:string! uid=metadata/uid:string! resourceVersion=metadata/resourceVersion:string! generation=metadata/generation:number! creationTimestamp=metadata/creationTimestamp:time! deletionTimestamp=metadata/deletionTimestamp:*time! deletionGracePeriodSeconds=metadata/deletionGracePeriodSeconds:*number! labels=metadata/labels:{string! annotations=metadata/annotations:{string! ownerReferences=metadata/ownerReferences:[#OwnerReference! finalizers=metadata/finalizers:[string! managedFields=metadata/managedFields:[#ManagedFieldsEntry! Spec:#storage.VolumeAttachmentSpec Status:#storage.VolumeAttachmentStatus
storage.VolumeAttachmentSource PersistentVolumeName:*string InlineVolumeSpec:*#PersistentVolumeSpec
storage.VolumeAttachmentSpec Attacher:string Source:#storage.VolumeAttachmentSource NodeName:string
storage.VolumeAttachmentStatus Attached:bool AttachmentMetadata:{string AttachError:*#storage.VolumeError DetachError:*#storage.VolumeError
storage.VolumeError Time:time Message:string ErrorCode:*number
storage.VolumeNodeResources Count:*number
`;
