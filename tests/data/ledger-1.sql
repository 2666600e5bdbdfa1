-- SPDX-License-Identifier: GPL-2.0-or-later
-- A ledger as it was written by the first version of its tables, under Slurm
-- 22.05.8: two grants, three charged runs, a fee that changed.  It must be read
-- and continued for ever: tests/34-credits-kept.t.
DROP TABLE IF EXISTS tide_txn, tide_line, tide_run, tide_account, tide_head;
CREATE TABLE `tide_txn` (
  `id` bigint(20) NOT NULL,
  `time` bigint(20) NOT NULL,
  `kind` varchar(16) NOT NULL,
  `ref` varchar(191) NOT NULL,
  `made_by` varchar(128) NOT NULL,
  `note` mediumtext NOT NULL,
  `detail` mediumtext NOT NULL,
  `hash` char(64) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `ref` (`ref`),
  KEY `kind` (`kind`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `tide_txn` VALUES (1,1796049900,'prices','prices 1','slurmdbd','PoolPartition=pool\nPoolAccount=centre\nIssueAccount=mint\nFee=10\nReference=gpu:a100\nDevice=gpu:a100   TFLOPS=312\nDevice=mlu:mlu290 Rate=200\nOwnerAccount=nlp Nodes=n1\nOwnerAccount=cv  Nodes=n2\nWindowName=always Nodes=n[1-2] Days=Mon-Sun\n','{\"devices\":{\"gpu:a100\":[100,1],\"mlu:mlu290\":[200,1]},\"fee\":[1,10],\"issue_account\":\"mint\",\"nodes\":{\"n1\":\"nlp\",\"n2\":\"cv\"},\"partition\":\"pool\",\"pool_account\":\"centre\"}','3edddefbb2930a729febb77d39e0d52b037fc7909cdd67635746c8c7f8290077');
INSERT INTO `tide_txn` VALUES (2,1796049906,'enroll','enroll vision','root','','vision','67c93f7d95ba10f971cfee0fa2ec2b3d1e59352952a390b54d231812893285a0');
INSERT INTO `tide_txn` VALUES (3,1796049906,'grant','grant 9685d5f69322ed7a0be8d6f883e0d445','root','first term','','c2f03b76d5ad208b9909ae0aa28e8ad48fd9bbb42c3b4655cd7c6b3b8ed1735c');
INSERT INTO `tide_txn` VALUES (4,1796049907,'grant','grant c033776e848df29ac8a20851aacff81e','root','meant for other','','f26fdba35339425073856924b79835c28225a788d64f93b6defddd53c03e7a92');
INSERT INTO `tide_txn` VALUES (5,1796049910,'charge','run tide 1 1796049907 1796049908','slurmdbd','','{\"account\":\"vision\",\"billing\":200000,\"cluster\":\"tide\",\"devices\":\"mlu=1,mlu:mlu290=1\",\"end\":1796049910,\"factor\":[1,1],\"job\":1,\"node_failed\":false,\"nodes\":\"n1\",\"prices\":1,\"start\":1796049908,\"submit\":1796049907,\"suspended\":0}','73c12591d6361dec95f8578e4b2327574d504aba083ee0c5f88b998c1a9ac61e');
INSERT INTO `tide_txn` VALUES (6,1796049911,'charge','run tide 2 1796049907 1796049908','slurmdbd','','{\"account\":\"vision\",\"billing\":800000,\"cluster\":\"tide\",\"devices\":\"mlu=4,mlu:mlu290=4\",\"end\":1796049911,\"factor\":[1,1],\"job\":2,\"node_failed\":false,\"nodes\":\"n[2-3]\",\"prices\":1,\"start\":1796049908,\"submit\":1796049907,\"suspended\":0}','9acef284bfb6113afb8d0429254ecf4773268df4587762a8cba7931dd71b2266');
INSERT INTO `tide_txn` VALUES (7,1796049913,'prices','prices 7','slurmdbd','PoolPartition=pool\nPoolAccount=centre\nIssueAccount=mint\nFee=5\nReference=gpu:a100\nDevice=gpu:a100   TFLOPS=312\nDevice=mlu:mlu290 Rate=200\nOwnerAccount=nlp Nodes=n1\nOwnerAccount=cv  Nodes=n2\nWindowName=always Nodes=n[1-2] Days=Mon-Sun\n','{\"devices\":{\"gpu:a100\":[100,1],\"mlu:mlu290\":[200,1]},\"fee\":[1,20],\"issue_account\":\"mint\",\"nodes\":{\"n1\":\"nlp\",\"n2\":\"cv\"},\"partition\":\"pool\",\"pool_account\":\"centre\"}','aeac9b8ab1d74ea9daba6a2ff34ca35b012952e749a8ad9bcb59c049b604eb7b');
INSERT INTO `tide_txn` VALUES (8,1796049919,'charge','run tide 3 1796049915 1796049916','slurmdbd','','{\"account\":\"vision\",\"billing\":400000,\"cluster\":\"tide\",\"devices\":\"mlu=2,mlu:mlu290=2\",\"end\":1796049918,\"factor\":[1,1],\"job\":3,\"node_failed\":false,\"nodes\":\"n2\",\"prices\":7,\"start\":1796049916,\"submit\":1796049915,\"suspended\":0}','6b08ea73156b1308619964d8b8a8334925af187e55783aed62a6fc6734a52217');
CREATE TABLE `tide_line` (
  `txn` bigint(20) NOT NULL,
  `line` int(11) NOT NULL,
  `account` varchar(128) NOT NULL,
  `amount` bigint(20) NOT NULL,
  PRIMARY KEY (`txn`,`line`),
  KEY `account` (`account`,`txn`,`amount`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `tide_line` VALUES (5,2,'centre',11111);
INSERT INTO `tide_line` VALUES (6,2,'centre',366667);
INSERT INTO `tide_line` VALUES (8,2,'centre',11111);
INSERT INTO `tide_line` VALUES (6,1,'cv',300000);
INSERT INTO `tide_line` VALUES (8,1,'cv',211111);
INSERT INTO `tide_line` VALUES (3,0,'mint',-1000000000);
INSERT INTO `tide_line` VALUES (4,0,'mint',100500000);
INSERT INTO `tide_line` VALUES (5,1,'nlp',100000);
INSERT INTO `tide_line` VALUES (3,1,'vision',1000000000);
INSERT INTO `tide_line` VALUES (4,1,'vision',-100500000);
INSERT INTO `tide_line` VALUES (5,0,'vision',-111111);
INSERT INTO `tide_line` VALUES (6,0,'vision',-666667);
INSERT INTO `tide_line` VALUES (8,0,'vision',-222222);
CREATE TABLE `tide_run` (
  `cluster` varchar(128) NOT NULL,
  `id_job` bigint(20) NOT NULL,
  `time_submit` bigint(20) NOT NULL,
  `time_start` bigint(20) NOT NULL,
  `time_end` bigint(20) NOT NULL,
  `account` varchar(128) NOT NULL,
  `charge` bigint(20) DEFAULT NULL,
  `refund` bigint(20) DEFAULT NULL,
  `amount` bigint(20) NOT NULL,
  `rate` varchar(32) NOT NULL,
  `earners` text NOT NULL,
  PRIMARY KEY (`cluster`,`id_job`,`time_submit`,`time_start`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `tide_run` VALUES ('tide',1,1796049907,1796049908,1796049910,'vision',5,NULL,111111,'200','nlp,centre');
INSERT INTO `tide_run` VALUES ('tide',2,1796049907,1796049908,1796049911,'vision',6,NULL,666667,'800','cv,centre');
INSERT INTO `tide_run` VALUES ('tide',3,1796049915,1796049916,1796049918,'vision',8,NULL,222222,'400','cv,centre');
CREATE TABLE `tide_account` (
  `account` varchar(128) NOT NULL,
  `enrolled` bigint(20) NOT NULL,
  `balance` bigint(20) NOT NULL DEFAULT 0,
  `billing` bigint(20) NOT NULL DEFAULT 0,
  `limit_minutes` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`account`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `tide_account` VALUES ('vision',1796049906,898500000,3600000,53970000);
CREATE TABLE `tide_head` (
  `one` int(11) NOT NULL,
  `version` int(11) NOT NULL,
  `txn` bigint(20) NOT NULL,
  `hash` char(64) NOT NULL,
  `holder` varchar(191) NOT NULL,
  `held_until` bigint(20) NOT NULL,
  PRIMARY KEY (`one`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `tide_head` VALUES (1,1,8,'6b08ea73156b1308619964d8b8a8334925af187e55783aed62a6fc6734a52217','first:1:1796049899',1796049940);
