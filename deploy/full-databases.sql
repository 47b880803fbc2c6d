-- The databases of the profile "full".
create database synapse;
create database bridge;
